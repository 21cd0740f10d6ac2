{#- The branches of a table. -#}
{% macro branches_of(relation) -%}
  {{- adapter.system_table(relation, 'branches') -}}
{%- endmacro %}
