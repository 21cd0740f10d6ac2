{#- The partitions of a table: rows, bytes, files, last update. -#}
{% macro partitions_of(relation) -%}
  {{- adapter.health.system_table(relation, 'partitions') -}}
{%- endmacro %}
