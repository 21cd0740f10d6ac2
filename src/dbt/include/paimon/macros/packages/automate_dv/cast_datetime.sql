{#-
  For automate_dv: Spark's `to_timestamp` in place of Snowflake's. The package has it as `databricks__cast_datetime`.
  Used if the project's dispatch config lists `dbt` before `automate_dv` (docs/packages.md).
-#}
{% macro paimon__cast_datetime() -%}
  {{- return(automate_dv.databricks__cast_datetime(*varargs, **kwargs)) -}}
{%- endmacro %}
