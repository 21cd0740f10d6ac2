{#- The sources of a schema as YAML. -#}
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
