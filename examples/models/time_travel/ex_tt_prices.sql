-- The guide's tag prod_v1, on what the model wrote; the hook is tomorrow's price, a commit after it.
{{ config(
    materialized='table',
    primary_key='product_id',
    bucket=1,
    table_tag='prod_v1',
    auto_tags={'creation': 'process-time', 'period': 'daily', 'num_retained_max': 30},
    post_hook="insert into {{ this }} values (1, 25.2), (3, 9.9)"
) }}

select
    1 as product_id,
    cast(23.0 as double) as price
union all
select
    2 as product_id,
    cast(30.2 as double) as price
