{{ config(
    materialized='incremental', primary_key='product_id', bucket=1,
    merge_engine='partial-update', sequence_field='message_no'
) }}

-- Each message fills the columns that it knows. A column that is NULL overwrites nothing.
select
    product_id,
    price,
    sales,
    title,
    message_no
from {{ ref('ex_product_messages') }}
{% if is_incremental() %}
where message_no > (select coalesce(max(held.message_no), 0) from {{ this }} as held)
{% endif %}
