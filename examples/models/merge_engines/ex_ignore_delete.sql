{{ config(
    materialized='table', primary_key='product_id', bucket=1, merge_engine='partial-update',
    rowkind_field='op', sequence_field='message_no', tblproperties={'ignore-delete': true}
) }}

-- partial-update cannot process deletes: they are left out. The option's old name is partial-update.ignore-delete.
select
    cast(product_id as bigint) as product_id,
    message_no,
    op,
    price,
    title
from
    values
    (1, 1, '+I', 23.0D, null),
    (1, 2, '-D', 23.0D, null),
    (1, 3, '+U', null, 'This is a book')
        as messages (product_id, message_no, op, price, title)
