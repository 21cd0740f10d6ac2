{% snapshot orders_then %}
{{ config(unique_key='order_id', strategy='timestamp', updated_at='ordered_at', target_schema=target.schema) }}
select order_id, amount, ordered_at from {{ ref('stg_orders') }}
{% endsnapshot %}
