{% macro buckets_of(relation) -%}
  {{- system_table(relation, 'buckets') -}}
{%- endmacro %}
