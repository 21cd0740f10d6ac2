{% macro snapshots_of(relation) -%}
  {{- adapter.health.system_table(relation, 'snapshots') -}}
{%- endmacro %}
