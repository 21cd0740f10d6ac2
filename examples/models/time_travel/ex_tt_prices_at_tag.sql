-- The table as it was at the tag, whatever has been committed since.
{{ config(materialized='table') }}

select
    product_id,
    price
from {{ at(ref('ex_tt_prices'), tag='prod_v1') }}
