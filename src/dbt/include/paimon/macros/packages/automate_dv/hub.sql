{#-
  For automate_dv: the SQL of a hub without QUALIFY, which Databricks has and Spark has not. The package has it as `sqlserver__hub`.
  Used if the project's dispatch config lists `dbt` before `automate_dv` (docs/packages.md).
-#}
{% macro paimon__hub() -%}
  {{- return(automate_dv.sqlserver__hub(*varargs, **kwargs)) -}}
{%- endmacro %}
