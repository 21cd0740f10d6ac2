-- Write-audit-publish: the data tests run on a branch, and the table gets the rows if they pass.
{{ config(
    materialized='incremental',
    primary_key='product_id',
    bucket=1,
    wap=true,
    enabled=adapter.has_capability('branches')
) }}

select
    product_id,
    price
from {{ ref('ex_tt_prices') }}
