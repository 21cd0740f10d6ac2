{#-
  For automate_dv: how a column is made a text before it is hashed. The package has it as
  `databricks__standard_column_wrapper`. Found by the search order of `dispatch.py` (docs/packages.md).
-#}
{% macro paimon__standard_column_wrapper() -%}
  {{- return(automate_dv.databricks__standard_column_wrapper(*varargs, **kwargs)) -}}
{%- endmacro %}
