{{ config(
    materialized='table', primary_key='pk', bucket=-1,
    dynamic_bucket={'target_row_num': 2, 'initial_buckets': 1}
) }}

-- A bucket that has its two rows accepts no further key: the five keys need three buckets.
select
    pk,
    v,
    pt
from
    values
    (1, 10, 1),
    (2, 20, 1),
    (3, 30, 1),
    (4, 40, 1),
    (5, 50, 1) as t (pk, v, pt)
