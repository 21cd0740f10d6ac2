{#-
  merge: MERGE INTO, for what a plain INSERT cannot express.

  config: unique_key (default: the primary key); merge_update_columns or merge_exclude_columns; matched_condition and
  not_matched_condition (SQL over DBT_INTERNAL_SOURCE and DBT_INTERNAL_DEST); merge_delete_condition, which deletes a
  matched row instead of updating it; incremental_predicates, which limit the table rows that can match.
-#}
{% macro paimon__get_incremental_merge_sql(arg_dict) %}
  {%- set names = arg_dict.dest_columns | map(attribute='name') | list -%}
  {%- set updates = paimon__merge_update_columns(arg_dict.unique_key, arg_dict.dest_columns) -%}
  {#- As in dbt's own adapters, a NULL matches nothing (docs/strategies.md). -#}
  {%- set same_key = paimon__same_columns('DBT_INTERNAL_SOURCE', 'DBT_INTERNAL_DEST', adapter.specs.columns(arg_dict.unique_key)) -%}
  {%- set delete_when = config.get('merge_delete_condition') -%}
  {%- set update_when = config.get('matched_condition') -%}
  {%- set insert_when = config.get('not_matched_condition') -%}
  {%- set sql -%}
merge into {{ arg_dict.target_relation }} as DBT_INTERNAL_DEST
using {{ paimon__with_columns(arg_dict.temp_relation, arg_dict.dest_columns, arg_dict.table_columns) }} as DBT_INTERNAL_SOURCE
on {{ ([same_key] + arg_dict.incremental_predicates) | join('\n  and ') }}
{%- if delete_when %}
when matched and {{ delete_when }}
then delete
{%- endif %}
{%- if updates %}
when matched{% if update_when %} and {{ update_when }}
{% endif %} then update set
  {%- for name in updates %}
  {{ adapter.quote(name) }} = DBT_INTERNAL_SOURCE.{{ adapter.quote(name) }}{{ ',' if not loop.last }}
  {%- endfor %}
{%- endif %}
when not matched{{ paimon__insert_condition(insert_when, delete_when) }}
then
  {{ paimon__merge_insert_clause(arg_dict.table_columns) }}
  {%- endset -%}
  {%- do return(sql) -%}
{% endmacro %}

{#-
  Without a not_matched_condition, a row that merge_delete_condition selects is not inserted either. A condition that is
  NULL selects nothing.
-#}
{% macro paimon__insert_condition(insert_when, delete_when) -%}
  {%- if insert_when %} and {{ insert_when }}
  {%- elif delete_when and 'DBT_INTERNAL_DEST' not in delete_when | upper %} and not coalesce({{ delete_when }}
, false)
  {%- endif -%}
{%- endmacro %}

{#-
  The model's rows with all columns of the table, NULL for those that the model lacks: Paimon requires all columns in an
  insert clause, and 0.9 looks up their names in the source.
-#}
{% macro paimon__with_columns(source, dest_columns, table_columns) %}
  {%- set written = dest_columns | map(attribute='name') | map('lower') | list -%}
  {%- set missing = [] -%}
  {%- for column in table_columns if column.name | lower not in written -%}
    {%- do missing.append('cast(null as ' ~ column.data_type ~ ') as ' ~ adapter.quote(column.name)) -%}
  {%- endfor -%}
  {%- do return('(select *, ' ~ missing | join(', ') ~ ' from ' ~ source ~ ')' if missing else source) -%}
{% endmacro %}

{% macro paimon__merge_insert_clause(table_columns) -%}
  {%- set names = paimon__quoted_columns(table_columns) -%}
insert ({{ names | join(', ') }}) values (
  {%- for name in names %}DBT_INTERNAL_SOURCE.{{ name }}{{ ', ' if not loop.last }}{% endfor -%}
)
{%- endmacro %}

{% macro paimon__merge_update_columns(unique_key, dest_columns) %}
  {%- set keys = adapter.specs.columns(unique_key) | map('lower') | list -%}
  {%- set only = adapter.specs.columns(config.get('merge_update_columns')) | map('lower') | list -%}
  {%- set except = adapter.specs.columns(config.get('merge_exclude_columns')) | map('lower') | list -%}
  {%- set names = [] -%}
  {%- for column in dest_columns -%}
    {%- set name = column.name | lower -%}
    {%- if name not in keys and name not in except and (not only or name in only) -%}
      {%- do names.append(column.name) -%}
    {%- endif -%}
  {%- endfor -%}
  {%- do return(names) -%}
{% endmacro %}
