{#- Used where dbt itself creates a view: stored test failures and the like. -#}
{% macro paimon__create_view_as(relation, sql) -%}
  {%- set definition = adapter.views.definition(relation, sql, {}) -%}
  {%- do adapter.views.remember(definition) -%}
  {{ adapter.views.create_sql(relation, definition) }}
{%- endmacro %}
