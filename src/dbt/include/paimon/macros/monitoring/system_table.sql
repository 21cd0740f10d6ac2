{#- Refuses names that are unknown to this Paimon version. -#}
{% macro system_table(relation, name) -%}
  {%- do paimon__require_relation(name ~ '_of', relation) -%}
  {{- adapter.health.system_table(relation, name) -}}
{%- endmacro %}
