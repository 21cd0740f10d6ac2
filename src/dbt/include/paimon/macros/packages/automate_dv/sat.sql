{#-
  For automate_dv: the SQL of a satellite without QUALIFY, which Databricks has and Spark has not. The package has it as `postgres__sat`.
  Used if the project's dispatch config lists `dbt` before `automate_dv` (docs/packages.md).
-#}
{% macro paimon__sat() -%}
  {{- return(automate_dv.postgres__sat(*varargs, **kwargs)) -}}
{%- endmacro %}
