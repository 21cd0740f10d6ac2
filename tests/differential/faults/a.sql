{#- Partitions are compared by `=`, so NULL partitions lose their rows; kept rows have only the batch's columns. -#}
{% macro paimon__get_incremental_microbatch_sql(arg_dict) %}
  {%- set window = arg_dict.batch_window -%}
  {%- if not arg_dict.spec.partition_by -%}
    {%- do return(paimon__replace_rows_sql(arg_dict, 'select true as __dbt_delete_key_1', ['(' ~ window ~ ')'])) -%}
  {%- endif -%}
  {%- set names = paimon__quoted_columns(arg_dict.dest_columns) -%}
  {%- set sql -%}
insert overwrite {{ arg_dict.target_relation }} ({{ names | join(', ') }})
select {{ names | join(', ') }}
from {{ arg_dict.temp_relation }}
union all
select {{ names | join(', ') }}
from {{ arg_dict.target_relation }} as DBT_INTERNAL_DEST
where not coalesce({{ window | replace('{alias}', 'DBT_INTERNAL_DEST') }}, false)
  and exists (
    select 1 from {{ arg_dict.temp_relation }} as __dbt_batch
    where {% for name in paimon__quoted(arg_dict.spec.partition_by) %}__dbt_batch.{{ name }} = DBT_INTERNAL_DEST.{{ name }}{{ ' and ' if not loop.last }}{% endfor %}
  )
  {%- endset -%}
  {%- do return(sql) -%}
{% endmacro %}
