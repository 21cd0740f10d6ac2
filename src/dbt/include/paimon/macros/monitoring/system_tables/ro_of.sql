{% macro ro_of(relation) -%}
  {{- system_table(relation, 'ro') -}}
{%- endmacro %}
