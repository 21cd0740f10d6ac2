select
    flight_id,
    flight_date,
    carrier,
    departed_at,
    dep_delay,
    departure_known_on as known_on
from {{ ref('int_flight_times') }}
where departed_at is not null
