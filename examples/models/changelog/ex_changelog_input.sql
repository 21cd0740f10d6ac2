{{ config(
    materialized='incremental', full_refresh=false, primary_key='product_id', bucket=1,
    changelog_producer='input', rowkind_field='op'
) }}

-- The input is the changelog, as it arrives: it has to be complete, with the rows before an update.
select
    product_id,
    stock,
    round_no,
    op
from {{ ref('ex_stock_changes') }}
where {{ new_rows('round_no') }}
