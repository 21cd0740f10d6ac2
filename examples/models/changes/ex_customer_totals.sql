{{
    config(
        materialized='incremental',
        primary_key='customer',
        merge_engine='aggregation',
        bucket=1,
        fields={
            'orders': {'aggregate_function': 'sum'},
            'amount': {'aggregate_function': 'sum'},
        }
    )
}}

select
    customer,
    sum(case when _row_kind in ('-U', '-D') then -1 else 1 end) as orders,
    sum(case when _row_kind in ('-U', '-D') then -amount else amount end) as amount
from {{ paimon_changes(ref('ex_orders_read'), before=true) }}
group by customer
