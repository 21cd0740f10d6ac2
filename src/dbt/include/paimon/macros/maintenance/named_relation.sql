{#- The relation with a name given on the command line; a relation is returned as it is. -#}
{% macro paimon__named_relation(relation) %}
  {%- if relation is not string -%}
    {%- do return(relation) -%}
  {%- endif -%}
  {%- set parts = relation.split('.') -%}
  {%- if parts | length == 1 -%}
    {%- for node in graph.nodes.values() if node.name == relation and node.resource_type in ('model', 'seed', 'snapshot') -%}
      {%- do return(api.Relation.create(database=node.database, schema=node.schema, identifier=node.alias, type='table')) -%}
    {%- endfor -%}
  {%- endif -%}
  {%- if parts | length > 3 -%}
    {%- do exceptions.raise_compiler_error(
      "'" ~ relation ~ "' is not a table: name a model, or write table, schema.table or catalog.schema.table."
    ) -%}
  {%- endif -%}
  {%- do return(api.Relation.create(
    database=parts[-3] if parts | length == 3 else target.database,
    schema=parts[-2] if parts | length > 1 else target.schema,
    identifier=parts[-1],
    type='table'
  )) -%}
{% endmacro %}
