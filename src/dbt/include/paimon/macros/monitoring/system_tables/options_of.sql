{% macro options_of(relation) -%}
  {{- adapter.health.system_table(relation, 'options') -}}
{%- endmacro %}
