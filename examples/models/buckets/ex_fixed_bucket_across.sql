{{ config(
    enabled=adapter.has_capability('fixed bucket across partitions'),
    materialized='table', primary_key='pk', partition_by='pt', bucket=2,
    post_hook=[
        "delete from {{ this }} where pk = 1",
        "insert into {{ this }} (pk, v, pt) values (1, 12, 3)",
        "insert into {{ this }} (pk, v, pt) values (2, 21, 2)"
    ]
) }}

-- Fixed buckets and a key without its partition: key 1 was deleted before it moved and exists once, key 2 exists
-- twice. dbt warns about this table, since its writer has to keep the keys unique.
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
