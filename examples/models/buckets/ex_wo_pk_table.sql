{{ config(materialized='incremental', bucket=2, bucket_key='order_id') }}

-- No primary key, two buckets: each order goes to the bucket that its order_id is hashed to.
select
    orders.order_id,
    orders.price,
    orders.ts
from {{ ref('ex_bucket_orders') }} as orders
where
    orders.order_id <= 3
    {% if is_incremental() %}
    and orders.order_id > (select coalesce(max(this.order_id), 0) from {{ this }} as this)
    {% endif %}
