{{ config(
    enabled=adapter.has_capability('remove record on delete'),
    materialized='table', primary_key='product_id', bucket=1, merge_engine='partial-update',
    rowkind_field='op', sequence_field='message_no',
    tblproperties={'partial-update.remove-record-on-delete': true}
) }}

-- A delete removes the record; later messages begin a new one. The delete has only the key: Paimon keeps its
-- other values for the new record until it compacts.
select
    cast(product_id as bigint) as product_id,
    message_no,
    op,
    price,
    title
from
    values
    (1, 1, '+I', 23.0D, null),
    (1, 2, '-D', null, null),
    (1, 3, '+U', null, 'This is a book'),
    (2, 4, '+I', 30.2D, 'Gone'),
    (2, 5, '-D', 30.2D, 'Gone')
        as messages (product_id, message_no, op, price, title)
