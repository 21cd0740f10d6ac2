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

-- One row per flight, built up from several messages (a partial update). A message has values for some columns. Each
-- entry of `fields` is a group: its columns change only by a message that has a greater value in the column that
-- names the group. A message that has NULL there leaves the group alone, and an old message that comes late changes
-- nothing.
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
