{{ log_table(bucket_key='flight_id', event_time='flight_date') }}

select
    flight_id,
    flight_date,
    flight_month,
    carrier,
    flight_number,
    tailnum,
    origin,
    dest,
    sched_dep_time,
    sched_dep_hour,
    sched_arr_time,
    distance,
    scheduled_hour_at
from {{ ref('stg_flights') }}
where
    {{ newly_known('flight_date') }}
