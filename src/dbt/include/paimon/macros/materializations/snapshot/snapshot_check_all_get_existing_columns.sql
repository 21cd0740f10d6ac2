{#-
  A pair for the check strategy: whether a checked column is new to the table, and the quoted names of the other checked columns.
  dbt's macro treats a name in another case as a new column, so that each run would create a version of every row. dbt does
  not dispatch this macro, so it is redefined by name.
-#}
{% macro snapshot_check_all_get_existing_columns(node, target_exists, check_cols_config) %}
  {%- if not target_exists -%}
    {%- do return((false, [])) -%}
  {%- endif -%}
  {%- if check_cols_config == 'all' -%}
    {%- set wanted = get_columns_in_query(node['compiled_code']) -%}
  {%- elif check_cols_config and check_cols_config is not string -%}
    {%- set wanted = check_cols_config -%}
  {%- else -%}
    {%- do exceptions.raise_compiler_error("Invalid value for 'check_cols': " ~ check_cols_config) -%}
  {%- endif -%}
  {%- set target = adapter.get_relation(database=node.database, schema=node.schema, identifier=node.alias) -%}
  {%- set existing = adapter.get_columns_in_relation(target) -%}
  {%- set known = existing | map(attribute='name') | list -%}
  {%- set compared = [] -%}
  {%- set unknown = [] -%}
  {%- for name in adapter.rows.spelled_names(wanted, existing) -%}
    {%- if name in known -%}{%- do compared.append(adapter.quote(name)) -%}
    {%- else -%}{%- do unknown.append(name) -%}{%- endif -%}
  {%- endfor -%}
  {%- do return((unknown | length > 0, compared)) -%}
{% endmacro %}
