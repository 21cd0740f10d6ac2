{{ config(
    materialized='table', primary_key=['pk', 'pt'], partition_by='pt', bucket=2,
    post_hook=[
        "insert into {{ this }} (pk, v, pt) values (1, 11, 2)",
        "{{ rescale(this, bucket_num=2, partitions={'pt': 2}) }}"
    ]
) }}

-- Fixed buckets, and the partition is in the primary key: key 1 in two partitions are two rows, which no write joins.
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
