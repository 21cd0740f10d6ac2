{{ config(
    materialized='incremental',
    primary_key='pk',
    partition_by='pt',
    bucket=-1,
    dynamic_bucket={'target_row_num': 2},
) }}

-- The partition is not in the primary key: when key 1 arrives with another one (batch 2), Paimon deletes it in its old
-- partition.
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
