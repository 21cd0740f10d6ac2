{#- The schemas that a table has had: columns, keys, options, comment. -#}
{% macro schemas_of(relation) -%}
  {{- adapter.health.system_table(relation, 'schemas') -}}
{%- endmacro %}
