{#- Sets the end of versions that ended, and inserts new ones; columns that the query no longer has stay NULL. -#}
{% macro paimon__snapshot_merge_sql(target, source, insert_cols) -%}
{%- set columns = config.get('snapshot_table_column_names') or get_snapshot_table_column_names() -%}
{%- set table_columns = adapter.get_columns_in_relation(target) -%}
merge into {{ target }} as DBT_INTERNAL_DEST
using {{ source }} as DBT_INTERNAL_SOURCE
on DBT_INTERNAL_SOURCE.{{ columns.dbt_scd_id }} = DBT_INTERNAL_DEST.{{ columns.dbt_scd_id }}
when matched
  {%- if config.get('dbt_valid_to_current') %}
  and (DBT_INTERNAL_DEST.{{ columns.dbt_valid_to }} = {{ config.get('dbt_valid_to_current') }}
    or DBT_INTERNAL_DEST.{{ columns.dbt_valid_to }} is null)
  {%- else %}
  and DBT_INTERNAL_DEST.{{ columns.dbt_valid_to }} is null
  {%- endif %}
  and DBT_INTERNAL_SOURCE.dbt_change_type in ('update', 'delete')
then update set {{ columns.dbt_valid_to }} = DBT_INTERNAL_SOURCE.{{ columns.dbt_valid_to }}
when not matched and DBT_INTERNAL_SOURCE.dbt_change_type = 'insert' then insert (
  {%- for column in table_columns %}{{ column.quoted }}{{ ', ' if not loop.last }}{% endfor -%}
) values (
  {%- for column in table_columns -%}
    {%- if column.quoted in insert_cols -%}
      DBT_INTERNAL_SOURCE.{{ column.quoted }}
    {%- else -%}
      cast(null as {{ column.data_type }})
    {%- endif -%}
    {{ ', ' if not loop.last }}
  {%- endfor -%}
)
{%- endmacro %}
