{#- The data files of a table with their key ranges (Paimon 1.4 and later). -#}
{% macro file_key_ranges_of(relation) -%}
  {{- adapter.health.system_table(relation, 'file_key_ranges') -}}
{%- endmacro %}
