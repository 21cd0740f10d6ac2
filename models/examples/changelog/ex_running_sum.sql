{{ config(
    materialized='table', primary_key='producer', bucket=1, merge_engine='aggregation', rowkind_field='op',
    fields={'stock': {'aggregate_function': 'sum'}}
) }}

-- The sum of the stock, kept from the changes alone: -U takes the old value out. It is 10, if one knows what was there.
select
    producer,
    cast(stock as bigint) as stock,
    op
from {{ ref('ex_changes_seen') }}
