{% macro row_tracking_of(relation) -%}
  {{- adapter.health.system_table(relation, 'row_tracking') -}}
{%- endmacro %}
