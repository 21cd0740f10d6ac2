{{ config(
    enabled=adapter.has_capability('field default value'),
    materialized='table', primary_key='product_id', bucket=1,
    fields={'currency': {'default_value': 'EUR'} }
) }}

-- NULL is read as the default.
select
    cast(product_id as bigint) as product_id,
    currency
from
    values
    (1, null),
    (2, 'USD')
        as messages (product_id, currency)
