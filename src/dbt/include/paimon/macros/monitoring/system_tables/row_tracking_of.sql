{% macro row_tracking_of(relation) -%}
  {{- system_table(relation, 'row_tracking') -}}
{%- endmacro %}
