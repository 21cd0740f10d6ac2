{% macro audit_log_of(relation) -%}
  {{- adapter.health.system_table(relation, 'audit_log') -}}
{%- endmacro %}
