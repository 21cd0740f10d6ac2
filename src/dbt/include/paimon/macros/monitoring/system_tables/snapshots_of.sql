{% macro snapshots_of(relation) -%}
  {{- system_table(relation, 'snapshots') -}}
{%- endmacro %}
