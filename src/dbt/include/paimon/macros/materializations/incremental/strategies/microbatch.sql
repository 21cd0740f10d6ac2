{#-
  microbatch: the batch takes the place of the rows of its time window [event_time_start, event_time_end).

  A partitioned table replaces the partitions that the batch touches, in one commit whose cost is those partitions';
  rows of them outside the window are carried over, so that a partition coarser than the batch loses nothing.
  A table without partitions replaces the window by one MERGE.
-#}
{% macro paimon__get_incremental_microbatch_sql(arg_dict) %}
  {%- set window = paimon__batch_window() -%}
  {%- if not arg_dict.spec.partition_by -%}
    {%- do return(paimon__replace_rows_sql(arg_dict, 'select true as __dbt_tag_1', ['(' ~ window ~ ')'])) -%}
  {%- endif -%}
  {%- set names = paimon__quoted_names(arg_dict.dest_columns) -%}
  {%- set partitions = paimon__quoted_key(arg_dict.spec.partition_by) -%}
  {%- set sql -%}
insert overwrite {{ arg_dict.target_relation }} ({{ names | join(', ') }})
select {{ names | join(', ') }}
from {{ arg_dict.temp_relation }}
union all
select {{ names | join(', ') }}
from {{ arg_dict.target_relation }} as DBT_INTERNAL_DEST
where not coalesce({{ ([window | replace('{alias}', 'DBT_INTERNAL_DEST')] + arg_dict.incremental_predicates) | join(' and ') }}, false)
  and exists (
    select 1 from {{ arg_dict.temp_relation }} as __dbt_batch
    where {% for name in partitions %}__dbt_batch.{{ name }} = DBT_INTERNAL_DEST.{{ name }}{{ ' and ' if not loop.last }}{% endfor %}
  )
  {%- endset -%}
  {%- do return(sql) -%}
{% endmacro %}

{#- The batch's window over `{alias}`; typed on both sides, for Paimon's MERGE adds no cast of its own. -#}
{% macro paimon__batch_window() %}
  {%- set column = 'cast({alias}.' ~ adapter.quote(config.get('event_time')) ~ ' as timestamp)' -%}
  {%- set conditions = [] -%}
  {%- if model.batch and model.batch.event_time_start -%}
    {%- do conditions.append(column ~ " >= timestamp '" ~ model.batch.event_time_start ~ "'") -%}
  {%- endif -%}
  {%- if model.batch and model.batch.event_time_end -%}
    {%- do conditions.append(column ~ " < timestamp '" ~ model.batch.event_time_end ~ "'") -%}
  {%- endif -%}
  {%- if not conditions -%}
    {%- do exceptions.raise_compiler_error(
      "model '" ~ model.name ~ "': incremental_strategy='microbatch' ran without a batch. Set event_time, begin and "
      ~ "batch_size, and do not override get_incremental_microbatch_sql's batches."
    ) -%}
  {%- endif -%}
  {%- do return(conditions | join(' and ')) -%}
{% endmacro %}
