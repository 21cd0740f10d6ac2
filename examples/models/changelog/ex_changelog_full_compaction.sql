{{ config(
    materialized='incremental', full_refresh=false, primary_key='product_id', bucket=1,
    changelog_producer='full-compaction',
    post_hook="{{ compact(this) }}"
) }}

-- A full compaction writes what changed since the last one to the changelog.
select
    product_id,
    stock,
    round_no
from {{ ref('ex_stock_changes') }}
where
    op <> '-U'
    and {{ new_rows('round_no') }}
