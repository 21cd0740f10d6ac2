{#- The sources of a schema as YAML. -#}
{% macro generate_sources(
  schema_name=none, database_name=none, name=none, table_names=none, table_pattern='%', exclude='',
  generate_columns=true, path=none, overwrite=false
) %}
  {%- set text = adapter.operations.sources_yaml(
    database_name or target.database, schema_name or target.schema, name, table_names, table_pattern, exclude,
    generate_columns, path, overwrite
  ) -%}
  {#- Unlike `log`, `print` shows the YAML even with --quiet. -#}
  {%- if path is none -%}{%- do print(text) -%}{%- endif -%}
  {%- do return(text) -%}
{% endmacro %}
