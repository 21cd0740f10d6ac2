{% macro tags_of(relation) -%}
  {{- adapter.health.system_table(relation, 'tags') -}}
{%- endmacro %}
