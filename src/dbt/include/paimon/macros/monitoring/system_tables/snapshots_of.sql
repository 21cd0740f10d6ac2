{#- The table snapshots (commits) of a table: time, kind, number of rows. -#}
{% macro snapshots_of(relation) -%}
  {{- adapter.health.system_table(relation, 'snapshots') -}}
{%- endmacro %}
