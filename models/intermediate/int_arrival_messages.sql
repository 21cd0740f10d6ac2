select
    flight_id,
    flight_date,
    carrier,
    arrived_at,
    arr_delay,
    air_time,
    arrival_known_on as known_on
from {{ ref('int_flight_times') }}
where arrived_at is not null
