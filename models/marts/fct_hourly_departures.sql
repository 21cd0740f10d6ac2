{{ history_table(partition_by='flight_month') }}

-- Months that have got flights since the last run are built again; the others stay as they are.
select
    origin,
    flight_date,
    sched_dep_hour,
    count(*) as scheduled,
    count_if(dep_time is null) as cancelled,
    count(dep_delay) as departed,
    count_if({{ is_late('dep_delay') }}) as departed_late,
    coalesce(sum(dep_delay), 0) as departure_delay_minutes,
    flight_month
from {{ ref('stg_flights') }}
where flight_month in (select news.flight_month from {{ paimon_changes(ref('stg_flights')) }} as news)
group by origin, flight_date, sched_dep_hour, flight_month
