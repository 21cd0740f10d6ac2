{% macro schemas_of(relation) -%}
  {{- adapter.health.system_table(relation, 'schemas') -}}
{%- endmacro %}
