select customer as name, count(*) as orders from {{ ref('orders') }} group by customer
