{#-
  For automate_dv: what is hashed, put together as Spark does. The package has it as `databricks__concat_ws`. Found by the
  search order of `dispatch.py` (docs/packages.md).
-#}
{% macro paimon__concat_ws() -%}
  {{- return(automate_dv.databricks__concat_ws(*varargs, **kwargs)) -}}
{%- endmacro %}
