{#-
  For automate_dv: the SQL of a reference table. The package has it as `databricks__ref_table`. Found by the search order of
  `dispatch.py` (docs/packages.md).
-#}
{% macro paimon__ref_table() -%}
  {{- return(automate_dv.databricks__ref_table(*varargs, **kwargs)) -}}
{%- endmacro %}
