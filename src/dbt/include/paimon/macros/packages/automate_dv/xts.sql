{#-
  For automate_dv: the SQL of an extended tracking satellite. The package has it as `databricks__xts`. Found by the search
  order of `dispatch.py` (docs/packages.md).
-#}
{% macro paimon__xts() -%}
  {{- return(automate_dv.databricks__xts(*varargs, **kwargs)) -}}
{%- endmacro %}
