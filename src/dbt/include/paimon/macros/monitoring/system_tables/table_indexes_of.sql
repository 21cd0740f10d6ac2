{% macro table_indexes_of(relation) -%}
  {{- system_table(relation, 'table_indexes') -}}
{%- endmacro %}
