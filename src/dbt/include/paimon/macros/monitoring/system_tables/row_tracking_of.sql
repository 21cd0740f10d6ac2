{#- The rows of a table with their ids and sequence numbers (Paimon 1.3 and later). -#}
{% macro row_tracking_of(relation) -%}
  {{- adapter.health.system_table(relation, 'row_tracking') -}}
{%- endmacro %}
