select customer from {{ ref('orders') }} group by customer
