{#- The consumers (streaming readers) of a table, and the next table snapshot of each. -#}
{% macro consumers_of(relation) -%}
  {{- adapter.health.system_table(relation, 'consumers') -}}
{%- endmacro %}
