{#-
  One MERGE that deletes rows of the table and inserts the batch.

  tags: a query whose columns __dbt_tag_1 to __dbt_tag_n identify the rows to delete;
  matches: for each tag, the expression over a table row (alias `{alias}`) that equals the tag if the row is deleted.

  Without a primary key, rows to insert have NULL tags and match nothing. With a primary key, a deleted key that is also in
  the batch is an update: Paimon does not guarantee the order of a delete and an insert within a commit.
-#}
{% macro paimon__replace_rows_sql(arg_dict, tags, matches) %}
  {%- if arg_dict.spec.primary_key -%}
    {%- do return(paimon__replace_rows_by_key_sql(arg_dict, tags, matches)) -%}
  {%- endif -%}
  {%- set names = paimon__quoted_names(arg_dict.table_columns) -%}
  {%- set batch = paimon__with_columns(arg_dict.temp_relation, arg_dict.dest_columns, arg_dict.table_columns) -%}
  {%- set sql -%}
merge into {{ arg_dict.target_relation }} as DBT_INTERNAL_DEST
using (
  select {{ names | join(', ') }}, 'insert' as __dbt_change
    {%- for _ in matches %}, null as __dbt_tag_{{ loop.index }}{% endfor %}
  from {{ batch }}
  union all
  select {{ paimon__typed_nulls(arg_dict.table_columns) }}, 'delete'
    {%- for _ in matches %}, __dbt_tag_{{ loop.index }}{% endfor %}
  from ({{ tags }})
) as DBT_INTERNAL_SOURCE
on {% for match in matches -%}
  DBT_INTERNAL_SOURCE.__dbt_tag_{{ loop.index }} = {{ match | replace('{alias}', 'DBT_INTERNAL_DEST') }}{{ '\n  and ' if not loop.last }}
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

{% macro paimon__replace_rows_by_key_sql(arg_dict, tags, matches) %}
  {%- set names = paimon__quoted_names(arg_dict.table_columns) -%}
  {%- set batch = paimon__with_columns(arg_dict.temp_relation, arg_dict.dest_columns, arg_dict.table_columns) -%}
  {%- set keys = paimon__quoted_key(arg_dict.spec.primary_key) -%}
  {%- set sql -%}
merge into {{ arg_dict.target_relation }} as DBT_INTERNAL_DEST
using (
  select {{ names | join(', ') }}, 'insert' as __dbt_change
  from {{ batch }}
  union all
  select {{ paimon__typed_nulls(arg_dict.table_columns, arg_dict.spec.primary_key, 'DBT_INTERNAL_DEST') }}, 'delete'
  from {{ arg_dict.target_relation }} as DBT_INTERNAL_DEST
  where exists (
    select 1 from ({{ tags }}) as __dbt_tags
    where {% for match in matches -%}
      __dbt_tags.__dbt_tag_{{ loop.index }} = {{ match | replace('{alias}', 'DBT_INTERNAL_DEST') }}{{ ' and ' if not loop.last }}
    {%- endfor %}
  )
  and not exists (
    select 1 from {{ arg_dict.temp_relation }} as __dbt_again
    where {% for key in keys %}__dbt_again.{{ key }} = DBT_INTERNAL_DEST.{{ key }}{{ ' and ' if not loop.last }}{% endfor %}
  )
  {%- for predicate in arg_dict.incremental_predicates %}
  and {{ predicate }}
  {%- endfor %}
) as DBT_INTERNAL_SOURCE
on {{ paimon__match_on(arg_dict.spec.primary_key | list) | join(' and ') }}
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

{% macro paimon__quoted_key(names) %}
  {%- set quoted = [] -%}
  {%- for name in names -%}{%- do quoted.append(adapter.quote(name)) -%}{%- endfor -%}
  {%- do return(quoted) -%}
{% endmacro %}

{#- A row of typed NULLs, except for the columns `kept` of `alias`. -#}
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
