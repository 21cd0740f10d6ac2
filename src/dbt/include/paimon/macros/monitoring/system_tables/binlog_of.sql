{% macro binlog_of(relation) -%}
  {{- system_table(relation, 'binlog') -}}
{%- endmacro %}
