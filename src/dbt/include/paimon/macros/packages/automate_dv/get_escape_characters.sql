{#-
  For automate_dv: names in backticks: a name in double quotes is a text in Spark. The package has it as
  `databricks__get_escape_characters`. Found by the search order of `dispatch.py` (docs/packages.md).
-#}
{% macro paimon__get_escape_characters() -%}
  {{- return(automate_dv.databricks__get_escape_characters(*varargs, **kwargs)) -}}
{%- endmacro %}
