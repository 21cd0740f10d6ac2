{#- The table snapshots (commits) of a table: when, of which kind, how many rows. -#}
{% macro snapshots_of(relation) -%}
  {{- adapter.system_table(relation, 'snapshots') -}}
{%- endmacro %}
