{{ config(
    materialized='table', primary_key='order_id', bucket=-1, post_hook=[
        "delete from {{ this }} where order_id in (2, 3)",
        "{{ compact(this) }}"
    ]
) }}

-- A primary key and dynamic buckets. After the compaction the deleted orders are in no file.
select
    order_id,
    price,
    ts
from {{ ref('ex_bucket_orders') }}
