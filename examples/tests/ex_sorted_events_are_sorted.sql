-- Rows of ex_sorted_events whose successor in the same file has a smaller customer_id: none after the second batch,
-- when both files are merged. In the first batch's file alone, there are some.
with neighbours as (
    select
        customer_id,
        lead(customer_id) over (partition by __paimon_file_path order by __paimon_row_index) as next_customer_id,
        approx_count_distinct(__paimon_file_path) over () as files
    from {{ ref('ex_sorted_events') }}
)

select *
from neighbours
where
    {{ var('batch') }} >= 2
    and (next_customer_id < customer_id or files > 1)
