{{ config(materialized='table') }}

-- What an incremental query returns for each table, one commit after the other.
{% for producer in ['none', 'input', 'lookup', 'full_compaction'] %}
{%- set table = ref('ex_changelog_' ~ producer) %}
select
    '{{ producer }}' as producer,
    cast(dense_rank() over (order by snapshot_id) as int) as commit_no,
    rowkind as op,
    product_id,
    stock
from ({{ changes_by_commit(table) }})
{{ 'union all' if not loop.last }}
{%- endfor %}
