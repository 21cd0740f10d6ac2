{#-
  For automate_dv: the SQL of an extended tracking satellite. The package has it as `databricks__xts`.
  Used if the project's dispatch config lists `dbt` before `automate_dv` (docs/packages.md).
-#}
{% macro paimon__xts() -%}
  {{- return(automate_dv.databricks__xts(*varargs, **kwargs)) -}}
{%- endmacro %}
