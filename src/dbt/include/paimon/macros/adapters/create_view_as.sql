{#- For views that dbt itself creates, such as stored test failures. -#}
{% macro paimon__create_view_as(relation, sql) -%}
  {{ adapter.views.create_as(relation, sql) }}
{%- endmacro %}
