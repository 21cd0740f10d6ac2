{{
    config(
        materialized='incremental',
        primary_key='order_id',
        rowkind_field='_row_kind',
        bucket=1
    )
}}

select
    order_id,
    customer,
    amount,
    _row_kind
from {{ paimon_changes(ref('ex_orders')) }}
