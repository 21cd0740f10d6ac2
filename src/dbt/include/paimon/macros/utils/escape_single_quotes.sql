{#-
  Escape text for a literal in quotes. Spark reads a backslash as an escape, so double it: with dbt-spark's macro, `C:\temp`
  in a unit test would contain a tab. `${` is escaped, because Spark would replace `${…}` by a variable.
-#}
{% macro paimon__escape_single_quotes(expression) -%}
{{ expression | replace('\\', '\\\\') | replace("'", "\\'") | replace('${', '\\u0024{') }}
{%- endmacro %}
