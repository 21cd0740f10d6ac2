{{ config(
    enabled=adapter.has_capability('fixed bucket across partitions'),
    materialized='incremental',
    primary_key='pk',
    partition_by='pt',
    bucket=2,
    pre_hook="{% if is_incremental() %}delete from {{ this }} where pk = 1 and pt = 1{% endif %}",
) }}

-- Fixed buckets and a key without its partition: in batch 2, key 1 is deleted before it moves and exists once, but
-- key 2 exists twice. dbt warns about this table, since its writer has to keep the keys unique.
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
    (1, 12, 3, 2),
    (2, 21, 2, 2) as t (pk, v, pt, batch_no)
where {{ new_rows('batch_no') }}
