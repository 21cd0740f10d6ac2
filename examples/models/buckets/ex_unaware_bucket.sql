{{ config(materialized='incremental') }}

-- Neither primary key nor bucket: Paimon keeps all files of a partition together, and rows in no order.
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
