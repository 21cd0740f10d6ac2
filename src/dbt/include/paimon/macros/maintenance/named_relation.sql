{#-
  The relation for a name from the command line: the name of a model, seed or snapshot, or `[[catalog.]schema.]table`.
  Refuses a name that several tables have, such as that of a model with versions.
-#}
{% macro paimon__named_relation(relation) %}
  {%- if relation is not string and relation.render is not defined -%}
    {%- do exceptions.raise_compiler_error(
      "relation: YAML reads this name as " ~ relation ~ ", which is not text. Write it in quotes, as in --args '{relation: \"2024\"}'."
    ) -%}
  {%- endif -%}
  {%- if relation is not string -%}
    {%- do return(relation) -%}
  {%- endif -%}
  {%- set parts = relation.split('.') -%}
  {%- set named = [] -%}
  {%- set nodes = [] -%}
  {%- for node in graph.nodes.values() if node.resource_type in ('model', 'seed', 'snapshot') -%}
    {%- do nodes.append(node.name) -%}
    {%- if node.name == relation -%}
      {%- do named.append(
        api.Relation.create(database=node.database, schema=node.schema, identifier=node.alias, type='table')
      ) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- set tables = named | map(attribute='parts') | map('join', '.') | unique(case_sensitive=true) | list -%}
  {%- if tables | length > 1 -%}
    {%- do exceptions.raise_compiler_error(
      "'" ~ relation ~ "' is the name of several tables: " ~ tables | join(', ') ~ ". Name one of these tables instead."
    ) -%}
  {%- endif -%}
  {%- if parts | length > 3 -%}
    {%- do exceptions.raise_compiler_error(
      "'" ~ relation ~ "' is not a table: name a model, or write table, schema.table or catalog.schema.table."
    ) -%}
  {%- endif -%}
  {%- do named.append(api.Relation.create(
    database=parts[-3] if parts | length == 3 else target.database,
    schema=parts[-2] if parts | length > 1 else target.schema,
    identifier=parts[-1],
    type='table'
  )) -%}
  {#- In an operation, the `model` of dbt's context is the macro. Do not check branches, whose names contain `$`. -#}
  {%- if execute and model.resource_type == 'macro' and '$' not in relation -%}
    {%- do adapter.operations.refuse_missing_table(relation, named[0], nodes) -%}
  {%- endif -%}
  {%- do return(named[0]) -%}
{% endmacro %}
