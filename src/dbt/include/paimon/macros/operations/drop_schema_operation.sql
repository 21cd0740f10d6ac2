{#- `dbt run-operation drop_schema`: dbt has a macro of that name, which takes a relation (see drop_table_operation.sql). -#}
{% macro paimon__drop_schema_operation(schema, confirm=none) %}
  {%- set wanted = api.Relation.create(database=target.database, schema=schema) -%}
  {%- do adapter.operations.refuse_unconfirmed_schema(
    wanted, confirm if confirm is not none else var('confirm', none)
  ) -%}
  {%- set branches = adapter.clones.in_schema(wanted) -%}
  {%- do adapter.drop_schema(wanted) -%}
  {%- for branch in branches if adapter.clones.end(branch) -%}
    {%- do log('drop_schema on ' ~ schema ~ ': deleted the branch ' ~ branch, info=true) -%}
  {%- endfor -%}
  {%- do log('drop_schema on ' ~ schema ~ ': done', info=true) -%}
{% endmacro %}
