{% macro file_key_ranges_of(relation) -%}
  {{- adapter.health.system_table(relation, 'file_key_ranges') -}}
{%- endmacro %}
