{#-
  For automate_dv: the SQL of a point-in-time table. The package has it as `databricks__pit`. Found by the search order of
  `dispatch.py` (docs/packages.md).
-#}
{% macro paimon__pit() -%}
  {{- return(automate_dv.databricks__pit(*varargs, **kwargs)) -}}
{%- endmacro %}
