{{ config(materialized='incremental', primary_key='customer') }}
select customer, sum(amount) as amount from {{ ref('orders') }}
{% if is_incremental() %}
where customer in (select customer from {{ this }})
{% endif %}
group by customer
