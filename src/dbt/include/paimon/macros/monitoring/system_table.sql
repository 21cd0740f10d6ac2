{#- Refuses names that are unknown to this Paimon version. -#}
{% macro system_table(relation, name) -%}
  {{- adapter.health.system_table(relation, name) -}}
{%- endmacro %}
