{#- The changes of a table, before and after in one row (Paimon 1.0 and later). -#}
{% macro binlog_of(relation) -%}
  {{- adapter.health.system_table(relation, 'binlog') -}}
{%- endmacro %}
