{{ config(materialized='ephemeral') }}
select distinct day from {{ ref('stg_orders') }}
