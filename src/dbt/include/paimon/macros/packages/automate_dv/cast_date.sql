{#-
  For automate_dv: Spark's `to_date` and `cast` in place of Snowflake's. The package has it as `databricks__cast_date`.
  Found by the search order of `dispatch.py` (docs/packages.md).
-#}
{% macro paimon__cast_date() -%}
  {{- return(automate_dv.databricks__cast_date(*varargs, **kwargs)) -}}
{%- endmacro %}
