{{ config(
    enabled=adapter.has_capability('compact postpone bucket'),
    materialized='table', primary_key=['order_date', 'order_id'], partition_by='order_date',
    bucket=-2, postpone_bucket={'batch_write_fixed_bucket': false, 'default_bucket_num': 2}, file_format='parquet',
    post_hook=[
        "{{ compact(this) }}",
        "{{ rescale(this, bucket_num=1, partitions={'order_date': '2023-10-02'}) }}"
    ]
) }}

-- Rows wait in a separate bucket, which no query reads, until a compaction moves each to its bucket.
select
    order_id,
    customer_id,
    order_date,
    cast(total_amount as decimal(10, 2)) as total_amount,
    status
from
    values
    (1, 1001, '2023-10-01', 100.50, 'COMPLETED'),
    (2, 1002, '2023-10-01', 200.75, 'PENDING'),
    (3, 1001, '2023-10-02', 150.20, 'COMPLETED'),
    (4, 1003, '2023-10-02', 300.00, 'COMPLETED'),
    (5, 1004, '2023-10-03', 450.80, 'PENDING'),
    (6, 1005, '2023-10-03', 220.30, 'COMPLETED') as t (order_id, customer_id, order_date, total_amount, status)
