{% macro partitions_of(relation) -%}
  {{- adapter.health.system_table(relation, 'partitions') -}}
{%- endmacro %}
