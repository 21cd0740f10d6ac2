{% macro branches_of(relation) -%}
  {{- adapter.health.system_table(relation, 'branches') -}}
{%- endmacro %}
