{% macro file_key_ranges_of(relation) -%}
  {{- system_table(relation, 'file_key_ranges') -}}
{%- endmacro %}
