{{ config(
    materialized='incremental', primary_key='product_id', bucket=1,
    rowkind_field='op', sequence_field='message_no'
) }}

-- The latest message of a key wins; when it is a delete, nothing is left of the key.
select
    cast(product_id as bigint) as product_id,
    title,
    op,
    message_no
from
    values
    (1, 'draft', '+I', 1),
    (1, 'This is a book', '+U', 2),
    (2, 'Out of print', '+I', 3),
    (2, 'Out of print', '-D', 4)
        as messages (product_id, title, op, message_no)
{% if is_incremental() %}
where message_no > (select coalesce(max(held.message_no), 0) from {{ this }} as held)
{% endif %}
