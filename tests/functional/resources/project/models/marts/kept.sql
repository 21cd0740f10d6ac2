{{ config(primary_key='customer', catalog_name='archive') }}
select customer, amount from {{ ref('totals') }}
