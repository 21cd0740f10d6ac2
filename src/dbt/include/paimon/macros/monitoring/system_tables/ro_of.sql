{#- The compacted rows of a table, read without merging. -#}
{% macro ro_of(relation) -%}
  {{- adapter.health.system_table(relation, 'ro') -}}
{%- endmacro %}
