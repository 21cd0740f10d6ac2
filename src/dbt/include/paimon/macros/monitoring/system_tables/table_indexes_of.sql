{#- The index files of a table (Paimon 1.0 and later). -#}
{% macro table_indexes_of(relation) -%}
  {{- adapter.health.system_table(relation, 'table_indexes') -}}
{%- endmacro %}
