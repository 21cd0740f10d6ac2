{{ config(
    materialized='incremental', primary_key='product_id', bucket=1,
    merge_engine='first-row', changelog_producer='lookup'
) }}

-- The first row written stays. The first build writes the earliest message of a key, each later one the latest.
with messages as (
    select
        product_id,
        price,
        message_no,
        row_number() over (
            partition by product_id
            order by message_no {{ 'desc' if is_incremental() }}
        ) as place
    from {{ ref('ex_sale_messages') }}
)

select
    product_id,
    price,
    message_no
from messages
where place = 1
