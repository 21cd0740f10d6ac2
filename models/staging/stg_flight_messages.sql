-- A folder of JSON files per day, so a filter by `known_on` reads the files of those days only.
select
    flight_id,
    flight_date,
    carrier,
    message_no,
    status,
    status_at,
    departed_at,
    dep_delay,
    arrived_at,
    arr_delay,
    air_time,
    day as known_on
from {{ landing_file('flight_messages') }}
