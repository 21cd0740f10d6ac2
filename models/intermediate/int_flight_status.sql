{{ config(
    materialized='incremental',
    incremental_strategy='partial_update',
    primary_key='flight_id',
    merge_engine='partial-update',
    fields={
        'message_no': {'sequence_group': ['status', 'status_at', 'known_on']},
        'departed_at': {'sequence_group': ['dep_delay']},
        'arrived_at': {'sequence_group': ['arr_delay', 'air_time']},
    },
    bucket='auto',
    maintenance={'compact': {'small_files': 2}, 'expire_snapshots': {'retain_max': 20}},
) }}

-- One row per flight, filled by several messages: each has values for some columns, and its NULLs change nothing (a
-- partial update). A sequence group orders them: a departure that arrives late does not replace a newer one.
select
    flight_id,
    flight_date,
    carrier,
    message_no,
    status,
    status_at,
    known_on,
    departed_at,
    dep_delay,
    arrived_at,
    arr_delay,
    air_time
from {{ ref('stg_flight_messages') }}
where
    {{ newly_known('known_on') }}
