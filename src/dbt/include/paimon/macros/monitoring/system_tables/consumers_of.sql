{% macro consumers_of(relation) -%}
  {{- adapter.health.system_table(relation, 'consumers') -}}
{%- endmacro %}
