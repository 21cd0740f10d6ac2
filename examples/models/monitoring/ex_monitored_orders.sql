{#- A table to monitor: four buckets by a key with many values, one file each, which nothing compacts. -#}
{{ config(
    materialized='table',
    primary_key='order_id',
    bucket=4,
    tblproperties={'write-only': true},
    maintenance={'expire_snapshots': {'retain_max': 1}},
) }}

select
    id as order_id,
    id % 3 as shop_id
from range(400)
