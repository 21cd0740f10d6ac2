{{ config(
    materialized='table', primary_key='producer', bucket=1, merge_engine='aggregation', rowkind_field='op',
    fields={'stock': {'aggregate_function': 'sum'}}
) }}

-- The sum of the stock, kept from the changes alone: -U subtracts the old value. It is 10 if the old rows are known.
select
    producer,
    cast(stock as bigint) as stock,
    op
from {{ ref('ex_changes_seen') }}
