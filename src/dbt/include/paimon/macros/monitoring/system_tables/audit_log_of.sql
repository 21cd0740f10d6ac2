{% macro audit_log_of(relation) -%}
  {{- system_table(relation, 'audit_log') -}}
{%- endmacro %}
