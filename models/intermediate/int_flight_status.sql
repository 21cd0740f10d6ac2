{{ feeds_table(
    key='flight_id',
    feeds={
        'message_no': ['status', 'status_at', 'known_on'],
        'departed_at': ['dep_delay'],
        'arrived_at': ['arr_delay', 'air_time'],
    },
) }}

-- A message has values in the columns that it tells of. The rest of its row is null and changes nothing.
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
