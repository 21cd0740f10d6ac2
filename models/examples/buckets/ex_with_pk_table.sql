{{ config(
    materialized='table', primary_key='order_id', post_hook=[
        "delete from {{ this }} where order_id in (2, 3)",
        "{{ compact(this) }}"
    ]
) }}

-- A primary key alone: buckets are dynamic. After the compaction the deleted orders are in no file.
select
    order_id,
    price,
    ts
from {{ ref('ex_bucket_orders') }}
