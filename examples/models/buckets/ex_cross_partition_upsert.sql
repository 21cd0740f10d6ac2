{{ config(
    materialized='table', primary_key='pk', partition_by='pt', bucket=-1, dynamic_bucket={'target_row_num': 2},
    post_hook="insert into {{ this }} (pk, v, pt) values (1, 11, 2)"
) }}

-- The partition is not in the primary key: when key 1 arrives with another one, Paimon deletes it in its old partition.
select
    pk,
    v,
    pt
from
    values
    (1, 10, 1),
    (2, 20, 1),
    (3, 30, 1),
    (4, 40, 1) as t (pk, v, pt)
