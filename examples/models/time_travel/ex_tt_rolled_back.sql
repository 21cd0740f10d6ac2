-- A wrong commit, and the way back to the tag.
{{ config(
    materialized='table',
    primary_key='product_id',
    bucket=1,
    table_tag='prod_v1',
    post_hook=[
        "insert into {{ this }} values (1, -1.0)",
        "{{ rollback_to(this, version='prod_v1') }}"
    ]
) }}

select
    1 as product_id,
    cast(23.0 as double) as price
