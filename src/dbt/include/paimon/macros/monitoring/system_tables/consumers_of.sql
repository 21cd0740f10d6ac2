{#- Who reads a table as a stream, and from which table snapshot on. -#}
{% macro consumers_of(relation) -%}
  {{- adapter.system_table(relation, 'consumers') -}}
{%- endmacro %}
