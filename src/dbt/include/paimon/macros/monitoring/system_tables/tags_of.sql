{#- The tags of a table, and the table snapshots that they hold. -#}
{% macro tags_of(relation) -%}
  {{- adapter.system_table(relation, 'tags') -}}
{%- endmacro %}
