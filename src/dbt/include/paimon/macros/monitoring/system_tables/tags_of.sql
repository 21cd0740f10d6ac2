{#- The tags of a table and their table snapshots. -#}
{% macro tags_of(relation) -%}
  {{- adapter.health.system_table(relation, 'tags') -}}
{%- endmacro %}
