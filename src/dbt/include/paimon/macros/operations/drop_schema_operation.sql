{#-
  Drop a schema with its tables and views: `dbt run-operation drop_schema`, for the schema of a pull request that is
  merged, and the branches that `dbt clone` made for its views (`clone_by: branch`). dbt has a macro of that name, which takes a relation (see drop_table_operation.sql).

  schema: Paimon's database; confirm: the same name again (or the var `confirm`); without it, the operation says what would
  be lost and does nothing.

  dbt run-operation drop_schema --args '{schema: shop_pr_7, confirm: shop_pr_7}'
-#}
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
