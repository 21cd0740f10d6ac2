{{ config(
    materialized='incremental',
    incremental_strategy='delete+insert',
    unique_key='flight_date',
    bucket=-1,
) }}

-- One row per airport and day. When a flight of a day has changed since the last run, the rows of that day are
-- deleted and inserted again, in one commit. That needs no primary key.
with changed_days as (
    select news.flight_date
    from {{ paimon_changes(ref('int_flights')) }} as news
    union
    select news.flight_date
    from {{ paimon_changes(ref('int_flight_status')) }} as news
),

flights as (
    select
        flights.origin,
        flights.flight_date,
        statuses.status,
        statuses.dep_delay,
        statuses.arr_delay,
        greatest(flights.flight_date, statuses.known_on) as known_on
    from {{ ref('int_flights') }} as flights
    left join {{ ref('int_flight_status') }} as statuses
        on flights.flight_id = statuses.flight_id
)

select
    origin,
    flight_date,
    count(*) as scheduled,
    count_if(status = 'cancelled') as cancelled,
    count(dep_delay) as departed,
    count_if({{ is_late('dep_delay') }}) as departed_late,
    coalesce(sum(dep_delay), 0) as departure_delay_minutes,
    coalesce(sum(arr_delay), 0) as arrival_delay_minutes,
    max(known_on) as known_on
from flights
where flight_date in (select changed_days.flight_date from changed_days)
group by origin, flight_date
