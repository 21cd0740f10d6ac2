{{ keyed_table(key='flight_id', sequence='message_no') }}

select
    flight_id,
    message_no,
    status,
    status_at,
    known_on
from {{ ref('int_flight_messages') }}
where
    {{ newly_known('known_on') }}
