{{ config(
    materialized='incremental', full_refresh=false, primary_key='product_id', bucket=1,
    changelog_producer='none',
    post_hook="{{ next_round(this, 'ex_stock_changes') }}"
) }}

-- Nothing writes a changelog: of a change only what was written is known.
select
    product_id,
    stock,
    round_no
from {{ ref('ex_stock_changes') }}
where
    op <> '-U'
    and {{ first_round() }}
