{% macro consumers_of(relation) -%}
  {{- system_table(relation, 'consumers') -}}
{%- endmacro %}
