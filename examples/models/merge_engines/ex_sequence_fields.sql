{{ config(
    materialized='table', primary_key='product_id', bucket=1,
    sequence_field=['sold_on', 'message_no']
) }}

-- Rows arrive in any order: the greatest day wins, and within a day the greatest message.
select
    cast(product_id as bigint) as product_id,
    cast(sold_on as date) as sold_on,
    message_no,
    price
from
    values
    (1, '2024-01-02', 2, 25.2D),
    (1, '2024-01-02', 1, 24.0D),
    (1, '2024-01-01', 9, 23.0D)
        as messages (product_id, sold_on, message_no, price)
