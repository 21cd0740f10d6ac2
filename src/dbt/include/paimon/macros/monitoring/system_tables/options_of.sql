{% macro options_of(relation) -%}
  {{- system_table(relation, 'options') -}}
{%- endmacro %}
