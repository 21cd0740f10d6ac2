select id as order_id, customer, day, amount, cast(day as timestamp) as ordered_at
from {{ ref('raw_orders') }}
where amount >= {{ var('minimum') }}
