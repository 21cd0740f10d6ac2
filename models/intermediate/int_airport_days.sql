{{ config(materialized='incremental', incremental_strategy='delete+insert', unique_key='flight_date') }}

-- A day is replaced as a whole when a message about one of its flights has arrived since.
with flights as (
    select
        flights.origin,
        flights.flight_date,
        flights.dep_time,
        legs.dep_delay,
        legs.arr_delay,
        greatest(flights.flight_date, legs.departure_known_on, legs.arrival_known_on) as known_on
    from {{ ref('stg_flights') }} as flights
    left join {{ ref('int_flight_legs') }} as legs
        on flights.flight_id = legs.flight_id
    where flights.flight_date <= {{ known_until() }}
)

select
    origin,
    flight_date,
    count(*) as scheduled,
    count_if(dep_time is null) as cancelled,
    count(dep_delay) as departed,
    count_if({{ is_late('dep_delay') }}) as departed_late,
    coalesce(sum(dep_delay), 0) as departure_delay_minutes,
    coalesce(sum(arr_delay), 0) as arrival_delay_minutes,
    max(known_on) as known_on
from flights
{% if is_incremental() %}
where
    flight_date in (
        select changed.flight_date
        from flights as changed
        where changed.known_on > {{ last_day_held('known_on') }}
    )
{% endif %}
group by origin, flight_date
