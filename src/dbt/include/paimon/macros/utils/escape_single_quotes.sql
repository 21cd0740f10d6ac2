{#-
  Escapes text for a literal in quotes: in Spark a backslash begins an escape, so it is doubled too. dbt-spark does not,
  and `C:\temp` in a unit test would contain a tab.
-#}
{% macro paimon__escape_single_quotes(expression) -%}
{{ expression | replace('\\', '\\\\') | replace("'", "\\'") | replace('${', '\\u0024{') }}
{%- endmacro %}
