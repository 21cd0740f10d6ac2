{{ config(store_failures_as='view') }}
select id from {{ ref('raw_orders') }} where id not in (select order_id from {{ ref('stg_orders') }})
