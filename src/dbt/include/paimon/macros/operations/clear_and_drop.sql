{#- Delete all rows of a table and of its helper tables. -#}
{% macro clear_table(relation, confirm=none) %}
  {%- set confirmation = confirm if confirm is not none else var('confirm', none) -%}
  {%- do adapter.operations.clear_table(paimon__named_relation(relation), relation, confirmation) -%}
{% endmacro %}

{#- `dbt run-operation drop_table`: dbt has a macro `drop_table`, too, so the adapter calls this one for the operation. -#}
{% macro paimon__drop_table_operation(relation, confirm=none) %}
  {%- set confirmation = confirm if confirm is not none else var('confirm', none) -%}
  {%- do adapter.operations.drop_table(paimon__named_relation(relation), relation, confirmation) -%}
{% endmacro %}

{#- `dbt run-operation drop_schema` (like drop_table). -#}
{% macro paimon__drop_schema_operation(schema, confirm=none) %}
  {%- set wanted = api.Relation.create(database=target.database, schema=schema) -%}
  {%- do adapter.operations.drop_schema(wanted, confirm if confirm is not none else var('confirm', none)) -%}
{% endmacro %}
