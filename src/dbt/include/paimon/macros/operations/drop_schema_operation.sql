{#- `dbt run-operation drop_schema` (see drop_table_operation.sql). -#}
{% macro paimon__drop_schema_operation(schema, confirm=none) %}
  {%- set wanted = api.Relation.create(database=target.database, schema=schema) -%}
  {%- do adapter.operations.drop_schema(wanted, confirm if confirm is not none else var('confirm', none)) -%}
{% endmacro %}
