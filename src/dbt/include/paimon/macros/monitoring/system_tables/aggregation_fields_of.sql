{% macro aggregation_fields_of(relation) -%}
  {{- system_table(relation, 'aggregation_fields') -}}
{%- endmacro %}
