{#- Ends the header of a data test or unit test, which dbt puts in front of the SQL of some macros. -#}
{% macro paimon__end_of_test_header() -%}
  {%- if model.resource_type in ('test', 'unit_test') and config.get('sql_header') and flags.REQUIRE_SQL_HEADER_IN_TEST_CONFIGS -%}
    {{ adapter.rows.end_of_header(config.get('sql_header')) }}
  {%- endif -%}
{%- endmacro %}

{% macro paimon__get_test_sql(main_sql, fail_calc, warn_if, error_if, limit) -%}
  {{ paimon__end_of_test_header() }}
  {{ default__get_test_sql(main_sql, fail_calc, warn_if, error_if, limit) }}
{%- endmacro %}

{% macro paimon__get_unit_test_sql(main_sql, expected_fixture_sql, expected_column_names) -%}
  {{ paimon__end_of_test_header() }}
  {{ default__get_unit_test_sql(main_sql, expected_fixture_sql, expected_column_names) }}
{%- endmacro %}
