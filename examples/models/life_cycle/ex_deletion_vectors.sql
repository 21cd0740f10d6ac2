{#- An upsert marks the old row in its file and writes the new one beside it: readers skip marked rows. -#}
{{ config(
    materialized='incremental',
    primary_key='order_id',
    bucket=1,
    deletion_vectors=true,
) }}

select
    order_id,
    status
from values (1, 'paid'), (2, 'sent'), (3, 'paid') as orders (order_id, status)
{% if is_incremental() %}
where order_id = 2
{% endif %}
