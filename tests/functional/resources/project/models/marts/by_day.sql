{{ config(
    materialized='incremental', incremental_strategy='microbatch', partition_by='day', event_time='ordered_at',
    begin=var('first_day'), batch_size='month', lookback=1
) }}
select order_id, ordered_at, day from {{ ref('stg_orders') }}
