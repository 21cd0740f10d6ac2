{#- Sorted compaction: each batch adds a file, whose rows are in the order in which they came. The policy merges the
    files of an append table once there are two, and writes the rows in the order of the column that queries filter by;
    for several columns, `zorder` and `hilbert` keep rows together that are alike in all of them. -#}
{{ config(
    materialized='incremental',
    incremental_strategy='append',
    maintenance={'compact': {'order': 'order', 'order_by': ['customer_id'], 'small_files': 2}},
) }}

with events as (
    select /*+ coalesce(1) */
        id as event_id,
        1 + id div 35 as batch,
        id % 7 as customer_id,
        id % 5 as product_id
    from range(70)
)

select *
from events
where {{ new_rows('batch') }}
