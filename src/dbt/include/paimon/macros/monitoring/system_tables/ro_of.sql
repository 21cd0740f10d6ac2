{#- The rows of a table that are compacted, read without merging. -#}
{% macro ro_of(relation) -%}
  {{- adapter.system_table(relation, 'ro') -}}
{%- endmacro %}
