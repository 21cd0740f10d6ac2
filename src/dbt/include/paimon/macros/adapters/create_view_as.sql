{#- Used where dbt itself creates a view: stored test failures and the like. -#}
{% macro paimon__create_view_as(relation, sql) -%}
  {{ adapter.views.create_as(relation, sql) }}
{%- endmacro %}
