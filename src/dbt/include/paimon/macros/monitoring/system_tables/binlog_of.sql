{% macro binlog_of(relation) -%}
  {{- adapter.health.system_table(relation, 'binlog') -}}
{%- endmacro %}
