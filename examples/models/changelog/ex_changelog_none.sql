{{ config(
    materialized='incremental', full_refresh=false, primary_key='product_id', bucket=1,
    changelog_producer='none'
) }}

-- No changelog is written: only the new rows of a change are known.
select
    product_id,
    stock,
    round_no
from {{ ref('ex_stock_changes') }}
where
    op <> '-U'
    and {{ new_rows('round_no') }}
