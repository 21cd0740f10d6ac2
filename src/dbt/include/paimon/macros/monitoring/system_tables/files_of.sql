{% macro files_of(relation) -%}
  {{- system_table(relation, 'files') -}}
{%- endmacro %}
