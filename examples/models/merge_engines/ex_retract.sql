{{ config(
    materialized='table', primary_key='product_id', bucket=1, merge_engine='aggregation',
    rowkind_field='op', sequence_field='message_no',
    fields={
        'price': {'aggregate_function': 'max', 'ignore_retract': true},
        'sales': {'aggregate_function': 'sum'},
    }
) }}

-- The second sale is retracted: a sum supports that, a maximum does not and is configured to ignore it.
select
    cast(product_id as bigint) as product_id,
    message_no,
    op,
    price,
    cast(sales as bigint) as sales
from
    values
    (1, 1, '+I', 23.0D, 15),
    (1, 2, '+I', 30.2D, 20),
    (1, 3, '-D', 30.2D, 20)
        as messages (product_id, message_no, op, price, sales)
