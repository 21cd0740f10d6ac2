{{ config(
    materialized='incremental', full_refresh=false, primary_key='product_id', bucket=1,
    changelog_producer='lookup',
    tblproperties={'lookup.cache-max-memory-size': '16 mb'}
) }}

-- Each commit looks up the old rows, and writes old and new ones into the changelog.
select
    product_id,
    stock,
    round_no
from {{ ref('ex_stock_changes') }}
where
    op <> '-U'
    and {{ new_rows('round_no') }}
