{{
    config(
        materialized='incremental',
        primary_key='product_id',
        sequence_field='updated_at',
        bucket=1
    )
}}

select
    product_id,
    product_name,
    category,
    price,
    updated_at
from {{ paimon_changes(ref('ex_product_updates')) }}
