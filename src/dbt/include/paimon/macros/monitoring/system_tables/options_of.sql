{#- The options of a table. -#}
{% macro options_of(relation) -%}
  {{- adapter.system_table(relation, 'options') -}}
{%- endmacro %}
