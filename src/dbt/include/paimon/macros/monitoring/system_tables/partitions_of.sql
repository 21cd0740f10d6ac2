{% macro partitions_of(relation) -%}
  {{- system_table(relation, 'partitions') -}}
{%- endmacro %}
