{{ config(primary_key='order_id') }}
select o.order_id, o.customer, o.day, o.amount
from {{ ref('stg_orders') }} as o
inner join {{ ref('only_day') }} as d on o.day = d.day
