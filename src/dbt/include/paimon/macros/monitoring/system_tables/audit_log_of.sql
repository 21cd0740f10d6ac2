{#- The rows of a table with their kind (+I, -U, +U, -D) in the column rowkind. -#}
{% macro audit_log_of(relation) -%}
  {{- adapter.health.system_table(relation, 'audit_log') -}}
{%- endmacro %}
