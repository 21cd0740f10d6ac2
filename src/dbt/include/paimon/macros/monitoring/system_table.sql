{#- The rendered name of a system table, for FROM. Refuses names that this Paimon version does not have. -#}
{% macro system_table(relation, name) -%}
  {%- do paimon__require_relation(name ~ '_of', relation) -%}
  {{- adapter.health.system_table(relation, name) -}}
{%- endmacro %}
