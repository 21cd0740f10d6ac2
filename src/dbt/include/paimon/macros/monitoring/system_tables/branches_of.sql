{% macro branches_of(relation) -%}
  {{- system_table(relation, 'branches') -}}
{%- endmacro %}
