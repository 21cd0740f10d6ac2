{{ config(
    materialized='table', primary_key='product_id', bucket=1, merge_engine='partial-update',
    fields={
        'priced_no': {'sequence_group': ['price']},
        'sold_no': {'sequence_group': ['sales', 'last_shop']},
        'sales': {'aggregate_function': 'sum'},
    }
) }}

-- Two feeds fill one row, each in its own order: the price of message 1 is late and does not count. Inside a group a
-- column may be aggregated; a late message is added all the same.
select
    cast(product_id as bigint) as product_id,
    priced_no,
    price,
    sold_no,
    cast(sales as bigint) as sales,
    last_shop
from
    values
    (1, 2, 25.2D, 2, 20, 'Paris'),
    (1, 1, 23.0D, 1, 15, 'Berlin'),
    (1, null, null, 3, 1, 'Rome')
        as messages (product_id, priced_no, price, sold_no, sales, last_shop)
