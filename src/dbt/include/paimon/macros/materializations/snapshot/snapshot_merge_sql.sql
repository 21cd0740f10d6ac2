{#-
  Sets the end of ended versions and inserts new versions. Columns that the query no longer has are NULL in the source:
  Paimon 0.9 looks up the names of all columns there.
-#}
{% macro paimon__snapshot_merge_sql(target, source, insert_cols) -%}
{%- set columns = config.get('snapshot_table_column_names') or get_snapshot_table_column_names() -%}
{%- set table_columns = adapter.get_columns_in_relation(target) -%}
{%- set valid_to_type = paimon__column_types(table_columns)[columns.dbt_valid_to | lower] -%}
{%- set written = table_columns | selectattr('quoted', 'in', insert_cols) | list -%}
merge into {{ target }} as DBT_INTERNAL_DEST
using {{ paimon__with_columns(source, written, table_columns) }} as DBT_INTERNAL_SOURCE
on DBT_INTERNAL_SOURCE.{{ columns.dbt_scd_id }} = DBT_INTERNAL_DEST.{{ columns.dbt_scd_id }}
when matched
  and ({{ paimon__is_current_version('DBT_INTERNAL_DEST.' ~ columns.dbt_valid_to, valid_to_type) }})
  and DBT_INTERNAL_SOURCE.dbt_change_type in ('update', 'delete')
then update set {{ columns.dbt_valid_to }} = DBT_INTERNAL_SOURCE.{{ columns.dbt_valid_to }}
when not matched and DBT_INTERNAL_SOURCE.dbt_change_type = 'insert' then {{ paimon__merge_insert_clause(table_columns) }}
{%- endmacro %}
