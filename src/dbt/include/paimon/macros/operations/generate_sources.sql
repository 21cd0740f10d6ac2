{#-
  The sources of a schema as YAML: tables and views, their comments, columns with types and NOT NULL, primary keys and
  partitions. Printed, or written to a file if `path` is given.

  schema_name: Paimon's database, by default the target's; database_name: the Spark catalog, by default the target's;
  name: of the source, by default the schema's; table_names: only these; table_pattern, exclude: ILIKE patterns;
  generate_columns: whether to write columns; path: a file of the project, replaced only with overwrite=true.

  dbt run-operation generate_sources --args '{schema_name: raw, path: models/_raw.yml}'
-#}
{% macro generate_sources(
  schema_name=none, database_name=none, name=none, table_names=none, table_pattern='%', exclude='',
  generate_columns=true, path=none, overwrite=false
) %}
  {%- set text = adapter.operations.sources_yaml(
    database_name or target.database, schema_name or target.schema, name, table_names, table_pattern, exclude,
    generate_columns
  ) -%}
  {%- do paimon__give_yaml(text, path, overwrite) -%}
  {%- do return(text) -%}
{% endmacro %}

{#- Print a properties file, even with --quiet, or write it. -#}
{% macro paimon__give_yaml(text, path, overwrite) %}
  {%- if path is none -%}
    {%- do print(text) -%}
  {%- else -%}
    {%- do adapter.operations.write_properties(path, text, overwrite) -%}
    {%- do log('Wrote ' ~ path, info=true) -%}
  {%- endif -%}
{% endmacro %}
