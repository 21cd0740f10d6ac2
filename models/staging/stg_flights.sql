with landed as (
    select
        *,
        make_date(year, month, day) as flight_date
    from {{ landing_file('flights') }}
)

select
    concat_ws('-', date_format(flight_date, 'yyyyMMdd'), carrier, flight, origin) as flight_id,
    flight_date,
    date_format(flight_date, 'yyyy-MM') as flight_month,
    carrier,
    flight as flight_number,
    tailnum,
    origin,
    dest,
    sched_dep_time,
    hour as sched_dep_hour,
    sched_arr_time,
    distance,
    time_hour as scheduled_hour_at
from landed
