{#- Sorted compaction: files of an append table are merged by runs, their rows in Z-order of the columns that queries
    filter by. A rebuild leaves one file, which is not due; `dbt run-operation maintain --args '{select:
    ex_sorted_events, force: true}'` sorts it. -#}
{{ config(
    materialized='table',
    maintenance={'compact': {'order': 'zorder', 'order_by': ['customer_id', 'product_id'], 'small_files': 10}},
) }}

select
    id as event_id,
    id % 7 as customer_id,
    id % 5 as product_id
from range(35)
