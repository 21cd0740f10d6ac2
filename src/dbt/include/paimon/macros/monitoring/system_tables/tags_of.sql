{% macro tags_of(relation) -%}
  {{- system_table(relation, 'tags') -}}
{%- endmacro %}
