{% macro buckets_of(relation) -%}
  {{- adapter.health.system_table(relation, 'buckets') -}}
{%- endmacro %}
