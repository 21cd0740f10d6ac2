{#-
  For automate_dv: Spark's `to_timestamp` in place of Snowflake's. The package has it as `databricks__cast_datetime`. Found
  by the search order of `dispatch.py` (docs/packages.md).
-#}
{% macro paimon__cast_datetime() -%}
  {{- return(automate_dv.databricks__cast_datetime(*varargs, **kwargs)) -}}
{%- endmacro %}
