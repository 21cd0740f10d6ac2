{% macro files_of(relation) -%}
  {{- adapter.health.system_table(relation, 'files') -}}
{%- endmacro %}
