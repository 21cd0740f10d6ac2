{#- For views that dbt itself creates, such as stored test failures. -#}
{% macro paimon__create_view_as(relation, sql) -%}
  {{ paimon__end_of_test_header() }}
  {{ adapter.views.create_as(relation, sql) }}
{%- endmacro %}
