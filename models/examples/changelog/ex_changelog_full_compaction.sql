{{ config(
    materialized='incremental', full_refresh=false, primary_key='product_id', bucket=1,
    changelog_producer='full-compaction',
    post_hook=[
        "{{ compact(this) }}", "{{ next_round(this, 'ex_stock_changes') }}", "{{ compact(this) }}"
    ]
) }}

-- The changelog is written by full compactions: from Paimon 1.4 by each write, before by a CALL alone.
select
    product_id,
    stock,
    round_no
from {{ ref('ex_stock_changes') }}
where
    op <> '-U'
    and {{ first_round() }}
