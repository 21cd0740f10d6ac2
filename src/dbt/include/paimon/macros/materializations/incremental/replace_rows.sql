{#-
  One MERGE that deletes rows of the table and inserts the batch.

  delete_keys: a query whose columns __dbt_delete_key_1 to __dbt_delete_key_n identify the rows to delete.
  matches: one SQL expression per column of delete_keys, in which `{alias}` stands for the table's alias. A row is deleted
    if each expression equals its column.

  Without a primary key, rows to insert have NULL in these columns and match nothing. With a primary key, a key that is both
  deleted and in the batch is written as an update, because Paimon does not guarantee the order of a delete and an insert
  within a commit.
-#}
{% macro paimon__replace_rows_sql(arg_dict, delete_keys, matches) %}
  {%- if arg_dict.spec.primary_key -%}
    {%- do return(paimon__replace_rows_by_key_sql(arg_dict, delete_keys, matches)) -%}
  {%- endif -%}
  {%- set names = paimon__quoted_columns(arg_dict.table_columns) -%}
  {%- set batch = paimon__with_columns(arg_dict.temp_relation, arg_dict.dest_columns, arg_dict.table_columns) -%}
  {%- set sql -%}
merge into {{ arg_dict.target_relation }} as DBT_INTERNAL_DEST
using (
  select {{ names | join(', ') }}, 'insert' as __dbt_change
    {%- for _ in matches %}, null as __dbt_delete_key_{{ loop.index }}{% endfor %}
  from {{ batch }}
  union all
  select {{ paimon__typed_nulls(arg_dict.table_columns) }}, 'delete'
    {%- for _ in matches %}, __dbt_delete_key_{{ loop.index }}{% endfor %}
  from ({{ delete_keys }})
) as DBT_INTERNAL_SOURCE
on {% for match in matches -%}
  DBT_INTERNAL_SOURCE.__dbt_delete_key_{{ loop.index }} = {{ match | replace('{alias}', 'DBT_INTERNAL_DEST') }}{{ '\n  and ' if not loop.last }}
  {%- endfor %}
  {%- for predicate in arg_dict.incremental_predicates %}
  and {{ predicate }}
  {%- endfor %}
when matched then delete
when not matched and DBT_INTERNAL_SOURCE.__dbt_change = 'insert' then
  {{ paimon__merge_insert_clause(arg_dict.table_columns) }}
  {%- endset -%}
  {%- do return(sql) -%}
{% endmacro %}

{% macro paimon__replace_rows_by_key_sql(arg_dict, delete_keys, matches) %}
  {%- set names = paimon__quoted_columns(arg_dict.table_columns) -%}
  {%- set batch = paimon__with_columns(arg_dict.temp_relation, arg_dict.dest_columns, arg_dict.table_columns) -%}
  {%- set sql -%}
merge into {{ arg_dict.target_relation }} as DBT_INTERNAL_DEST
using (
  select {{ names | join(', ') }}, 'insert' as __dbt_change
  from {{ paimon__newest_of_key(batch, arg_dict.spec) }}
  union all
  select {{ paimon__typed_nulls(arg_dict.table_columns, arg_dict.spec.primary_key, 'DBT_INTERNAL_DEST') }}, 'delete'
  from {{ arg_dict.target_relation }} as DBT_INTERNAL_DEST
  where exists (
    select 1 from ({{ delete_keys }}) as __dbt_delete_keys
    where {% for match in matches -%}
      __dbt_delete_keys.__dbt_delete_key_{{ loop.index }} = {{ match | replace('{alias}', 'DBT_INTERNAL_DEST') }}{{ ' and ' if not loop.last }}
    {%- endfor %}
  )
  and not exists (
    select 1 from {{ arg_dict.temp_relation }} as __dbt_batch
    where {{ paimon__same_columns('__dbt_batch', 'DBT_INTERNAL_DEST', arg_dict.spec.primary_key) }}
  )
  {%- for predicate in arg_dict.incremental_predicates %}
  and {{ predicate }}
  {%- endfor %}
) as DBT_INTERNAL_SOURCE
on {{ paimon__same_columns('DBT_INTERNAL_SOURCE', 'DBT_INTERNAL_DEST', arg_dict.spec.primary_key) }}
when matched and DBT_INTERNAL_SOURCE.__dbt_change = 'delete' then delete
when matched then update set
  {%- for name in names %}
  {{ name }} = DBT_INTERNAL_SOURCE.{{ name }}{{ ',' if not loop.last }}
  {%- endfor %}
when not matched and DBT_INTERNAL_SOURCE.__dbt_change = 'insert' then
  {{ paimon__merge_insert_clause(arg_dict.table_columns) }}
  {%- endset -%}
  {%- do return(sql) -%}
{% endmacro %}

{#-
  The batch with one row per key, as Paimon would keep it: MERGE fails if two rows match one of the table. Without a
  sequence, there is no newest row, so MERGE's error stays.
-#}
{% macro paimon__newest_of_key(batch, spec) -%}
  {%- if not spec.sequence_columns or spec.options.get('sequence.field.sort-order', '') | lower == 'descending' -%}
    {{ batch }}
  {%- else -%}
(
    select *, row_number() over (
      partition by {{ paimon__quoted(spec.primary_key) | join(', ') }}
      order by {{ paimon__quoted(spec.sequence_columns) | join(' desc, ') }} desc
    ) as __dbt_rank
    from {{ batch }}
  ) where __dbt_rank = 1
  {%- endif -%}
{%- endmacro %}

{#- A select list of typed NULLs; the columns in `kept` are taken from `alias` instead. -#}
{% macro paimon__typed_nulls(columns, kept=[], alias='') -%}
  {%- set kept = kept | map('lower') | list -%}
  {%- for column in columns -%}
    {%- if column.name | lower in kept -%}
      {{ alias }}.{{ adapter.quote(column.name) }}
    {%- else -%}
      cast(null as {{ column.data_type }})
    {%- endif -%}
    {{ ', ' if not loop.last }}
  {%- endfor -%}
{%- endmacro %}
