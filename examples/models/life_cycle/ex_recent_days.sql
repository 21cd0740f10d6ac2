{#- Partition expiration: a day older than 90 days, by its value, is dropped after the commit. -#}
{{ config(
    materialized='table',
    partition_by='order_day',
    tblproperties={'metastore.partitioned-table': 'true'},
    maintenance={'expire_partitions': {'expiration_time': '90 d', 'timestamp_formatter': 'yyyy-MM-dd'}},
) }}

select
    order_id,
    order_day
from values (1, '2020-01-01'), (2, '2020-06-30'), (3, '2999-01-01') as orders (order_id, order_day)
