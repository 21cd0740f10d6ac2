{#-
  The rows of one table, and batches of changes: half of a batch updates rows that lie all over the table, half is new.
  Variables: base (rows of the first build), size (rows of a batch), batch (its number, from 1).
-#}
{{ config(materialized='incremental', **var('config')) }}

{%- set base, size, batch = var('base'), var('size'), var('batch') %}
{%- set half = size // 2 %}

with keys as (
{%- if is_incremental() %}
    {#- One of each stretch of `base / half` keys: no key comes twice in a batch, and other batches take others. #}
    select
        case
            when id < {{ half }} then id * {{ base // half }} + {{ (batch * 7919) % (base // half) }}
            else {{ base + (batch - 1) * (size - half) }} + id - {{ half }}
        end as id
    from range({{ size }})
{%- else %}
    select id from range({{ base }})
{%- endif %}
)

select
    id,
    cast(pmod(xxhash64(id, {{ batch }}), 100000) as int) as customer_id,
    concat('order of customer ', pmod(xxhash64(id), 100000)) as description,
    cast(pmod(xxhash64(id, {{ batch }}, 1), 10000000) / 100 as decimal(12, 2)) as amount,
    element_at(array('open', 'paid', 'sent', 'returned'), cast(pmod(id + {{ batch }}, 4) + 1 as int)) as status,
    timestamp '2024-01-01 00:00:00' + make_interval(0, 0, 0, {{ batch }}, 0, 0, 0) as updated_at
from keys
