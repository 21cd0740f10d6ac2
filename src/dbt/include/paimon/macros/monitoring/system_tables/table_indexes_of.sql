{% macro table_indexes_of(relation) -%}
  {{- adapter.health.system_table(relation, 'table_indexes') -}}
{%- endmacro %}
