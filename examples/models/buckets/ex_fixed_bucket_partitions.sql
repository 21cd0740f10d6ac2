{{ config(materialized='incremental', primary_key=['pk', 'pt'], partition_by='pt', bucket=2) }}

-- Fixed buckets, and the partition is in the primary key: key 1 in two partitions is two rows that are never merged.
select
    pk,
    v,
    pt,
    batch_no
from
    values
    (1, 10, 1, 1),
    (2, 20, 1, 1),
    (3, 30, 1, 1),
    (4, 40, 1, 1),
    (1, 11, 2, 2) as t (pk, v, pt, batch_no)
where {{ new_rows('batch_no') }}
