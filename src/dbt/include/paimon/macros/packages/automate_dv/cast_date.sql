{#-
  For automate_dv: Spark's `to_date` and `cast` in place of Snowflake's. The package has it as `databricks__cast_date`.
  Used if the project's dispatch config lists `dbt` before `automate_dv` (docs/packages.md).
-#}
{% macro paimon__cast_date() -%}
  {{- return(automate_dv.databricks__cast_date(*varargs, **kwargs)) -}}
{%- endmacro %}
