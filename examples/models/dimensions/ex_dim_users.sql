{{
    config(
        materialized='incremental',
        primary_key=['user_id', 'valid_from'],
        bucket=1
    )
}}

{{
    scd2(
        paimon_changes(ref('ex_user_updates')),
        key='user_id',
        columns=['name', 'email'],
        valid_from='updated_at',
        order_by='message_no'
    )
}}
