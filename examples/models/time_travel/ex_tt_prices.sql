-- The tag prod_v1 of docs/time-travel.md, on the rows of the first batch. The second batch has later prices.
{{ config(
    materialized='incremental',
    primary_key='product_id',
    bucket=1,
    table_tag={'name': 'prod_v1', 'if_exists': 'keep'},
    auto_tags={'creation': 'process-time', 'period': 'daily', 'num_retained_max': 30},
) }}

select
    product_id,
    cast(price as double) as price,
    batch_no
from
    values
    (1, 23.0, 1),
    (2, 30.2, 1),
    (1, 25.2, 2),
    (3, 9.9, 2) as prices (product_id, price, batch_no)
where {{ new_rows('batch_no') }}
