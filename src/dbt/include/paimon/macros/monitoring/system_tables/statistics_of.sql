{% macro statistics_of(relation) -%}
  {{- adapter.health.system_table(relation, 'statistics') -}}
{%- endmacro %}
