{% macro ro_of(relation) -%}
  {{- adapter.health.system_table(relation, 'ro') -}}
{%- endmacro %}
