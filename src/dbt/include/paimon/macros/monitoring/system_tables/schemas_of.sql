{% macro schemas_of(relation) -%}
  {{- system_table(relation, 'schemas') -}}
{%- endmacro %}
