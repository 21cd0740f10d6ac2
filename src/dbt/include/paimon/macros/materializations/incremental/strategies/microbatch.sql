{#-
  microbatch: the batch replaces the rows in its time window [event_time_start, event_time_end); with --sample only the
  rows of the sample. With --empty nothing changes, since the batch reads no rows.

  In a partitioned table, one INSERT OVERWRITE replaces the partitions that the batch touches (NULL is a partition, too).
  Their rows outside the window are copied with all columns, since a partition may be coarser than the batch. If a key of
  the batch is also among the copied rows, only the winning row is written: Paimon would pick the later one, and Spark
  guarantees no order. In a table without partitions, one MERGE replaces the window.
-#}
{% macro paimon__get_incremental_microbatch_sql(arg_dict) %}
  {%- if arg_dict.batch_window is not defined -%}
    {%- do exceptions.raise_compiler_error(
      "model '" ~ model.name ~ "': get_incremental_microbatch_sql replaces the rows of a batch, and only a run with "
      "incremental_strategy='microbatch' has batches. Set it, or call get_incremental_insert_overwrite_sql."
    ) -%}
  {%- endif -%}
  {%- set window = arg_dict.batch_window -%}
  {%- if not window -%}
    {%- do return(
      paimon__insert_sql(arg_dict.target_relation, arg_dict.dest_columns, arg_dict.temp_relation) ~ ' where false'
    ) -%}
  {%- endif -%}
  {%- if not arg_dict.spec.partition_by -%}
    {%- do return(paimon__replace_rows_sql(arg_dict, 'select true as __dbt_delete_key_1', ['(' ~ window ~ ')'])) -%}
  {%- endif -%}
  {%- set names = paimon__quoted_columns(arg_dict.table_columns) | join(', ') -%}
  {%- set batch = paimon__with_columns(arg_dict.temp_relation, arg_dict.dest_columns, arg_dict.table_columns) -%}
  {%- set inside = [window | replace('{alias}', 'DBT_INTERNAL_DEST')] + arg_dict.incremental_predicates -%}
  {%- set outside = 'not coalesce(' ~ inside | join(' and ') ~ ', false)' -%}
  {%- set same_partition = paimon__same_columns('__dbt_batch', 'DBT_INTERNAL_DEST', arg_dict.spec.partition_by, '<=>') -%}
  {%- set same_key = paimon__same_columns('__dbt_batch', 'DBT_INTERNAL_DEST', arg_dict.spec.primary_key) -%}
  {%- set sql -%}
insert overwrite {{ arg_dict.target_relation }} ({{ names }})
select {{ names }}
from {{ arg_dict.target_relation }} as DBT_INTERNAL_DEST
where {{ outside }}
  and exists (select 1 from {{ arg_dict.temp_relation }} as __dbt_batch where {{ same_partition }})
  {%- if paimon__last_row_counts(arg_dict.spec) %}
  and not exists (select 1 from {{ arg_dict.temp_relation }} as __dbt_batch where {{ same_key }})
  {%- endif %}
union all
select {{ names }}
from {{ batch }} as __dbt_batch
  {%- if arg_dict.spec.merge_engine == 'first-row' %}
where not exists (select 1 from {{ arg_dict.target_relation }} as DBT_INTERNAL_DEST where {{ outside }} and {{ same_key }})
  {%- endif %}
  {%- endset -%}
  {%- do return(sql) -%}
{% endmacro %}

{#- Whether the last written row of a key wins in Paimon, because no sequence field orders the rows. -#}
{% macro paimon__last_row_counts(spec) %}
  {%- do return(spec.primary_key and spec.merge_engine == 'deduplicate' and not spec.sequence_columns) -%}
{% endmacro %}
