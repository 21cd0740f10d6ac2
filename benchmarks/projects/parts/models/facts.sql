{#-
  A table of many small files: `parts` partitions of `buckets` buckets, and batches of `size` rows into one partition.
  Variables: parts, buckets, size (rows of a batch), batch (its number).
-#}
{{ config(
    materialized='incremental',
    primary_key=['part', 'id'],
    partition_by='part',
    bucket=var('buckets'),
) }}

{%- set parts = var('parts') %}

{%- if is_incremental() %}
select
    id,
    {{ var('batch') % parts }} as part,
    concat('row ', id) as note
from range({{ var('size') }})
{%- else %}
select
    id,
    cast(id % {{ parts }} as int) as part,
    concat('row ', id) as note
from range({{ parts * 40 }})
{%- endif %}
