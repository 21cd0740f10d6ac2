select max_by(order_id, amount) as order_id from {{ ref('orders') }}
