{{ config(
    materialized='incremental', primary_key='product_id', bucket=1,
    merge_engine='aggregation', sequence_field='message_no',
    fields={
        'price': {'aggregate_function': 'max'},
        'sales': {'aggregate_function': 'sum'},
    }
) }}

-- `sales` is a bigint, since Paimon's sum of an int overflows. `shop` has no function: it takes last_non_null_value. A
-- message must not arrive twice: the sum would count it twice.
select
    product_id,
    price,
    cast(sales as bigint) as sales,
    shop,
    message_no
from {{ ref('ex_sale_messages') }}
{% if is_incremental() %}
where message_no > (select coalesce(max(held.message_no), 0) from {{ this }} as held)
{% endif %}
