{% macro aggregation_fields_of(relation) -%}
  {{- adapter.health.system_table(relation, 'aggregation_fields') -}}
{%- endmacro %}
