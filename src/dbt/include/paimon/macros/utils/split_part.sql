{#-
  One part of a string, or NULL if it has fewer parts. dbt-spark's macro fails instead in ANSI mode, Spark 4's default,
  and reads a delimiter of several characters as a pattern.
-#}
{% macro paimon__split_part(string_text, delimiter_text, part_number) -%}
  {%- set parts = "split(" ~ string_text ~ ", concat('\\\\Q', " ~ delimiter_text ~ ", '\\\\E'))" -%}
  {%- if part_number < 0 -%}
    get({{ parts }}, size({{ parts }}) + ({{ part_number }}))
  {%- else -%}
    get({{ parts }}, {{ [part_number - 1, 0] | max }})
  {%- endif -%}
{%- endmacro %}
