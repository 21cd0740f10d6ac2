{#-
  dbt's test materialization, or that of the project, as elementary needs one; except that `skip_unchanged` skips a test that
  has passed on the same rows (docs/skip-unchanged.md).
-#}
{% materialization test, adapter='paimon' %}
  {%- set passed = adapter.unchanged_tests.passed(model, stores_failures=should_store_failures()) -%}
  {%- if passed -%}
    {{ store_result('main', response=passed.response, agate_table=passed.table) }}
    {{ return({'relations': []}) }}
  {%- endif -%}
  {%- set result = materialization_test_default() -%}
  {%- do adapter.rows.warn_of_quoted_names(model, sql) -%}
  {%- do adapter.unchanged_tests.note(model, load_result('main').table) -%}
  {{ return(result) }}
{% endmaterialization %}
