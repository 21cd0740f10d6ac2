{% macro statistics_of(relation) -%}
  {{- system_table(relation, 'statistics') -}}
{%- endmacro %}
