{#-
  Text for between the quotes of a literal, which then says that text: a backslash begins an escape in Spark, so it is
  doubled too. dbt-spark leaves it, and `C:\temp` in a unit test would hold a tab.
-#}
{% macro paimon__escape_single_quotes(expression) -%}
{{ expression | replace('\\', '\\\\') | replace("'", "\\'") }}
{%- endmacro %}
