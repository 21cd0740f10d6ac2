{#-
  For automate_dv: the SQL of a point-in-time table. The package has it as `databricks__pit`.
  Used if the project's dispatch config lists `dbt` before `automate_dv` (docs/packages.md).
-#}
{% macro paimon__pit() -%}
  {{- return(automate_dv.databricks__pit(*varargs, **kwargs)) -}}
{%- endmacro %}
