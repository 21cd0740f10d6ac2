{#- Used where dbt itself creates a view: stored test failures and the like. -#}
{% macro paimon__create_view_as(relation, sql) -%}
  {%- set definition = adapter.view_definition(relation, sql, {}) -%}
  {%- do adapter.remember_view(definition) -%}
  {{ adapter.create_view_sql(relation, definition) }}
{%- endmacro %}
