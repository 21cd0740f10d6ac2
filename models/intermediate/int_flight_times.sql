{{ config(materialized='ephemeral') }}

-- The file gives clock times without days. A departure's day follows from its delay. An arrival whose clock time is
-- before the departure's was after midnight: no flight here goes west faster than the clocks change.
with clocks as (
    select
        *,
        {{ hhmm_to_minutes('sched_dep_time') }} as scheduled_minute,
        {{ hhmm_to_minutes('sched_dep_time') }} + dep_delay as departure_minute,
        {{ hhmm_to_minutes('arr_time') }} as arrival_clock
    from {{ ref('stg_flights') }}
),

minutes as (
    select
        *,
        departure_minute - pmod(departure_minute, 1440)
        + arrival_clock
        + if(arrival_clock < pmod(departure_minute, 1440), 1440, 0) as arrival_minute
    from clocks
)

select
    flight_id,
    flight_date,
    carrier,
    {{ at_minute('flight_date', 'scheduled_minute') }} as scheduled_departure_at,
    if(dep_time is null, null, {{ at_minute('flight_date', 'departure_minute') }}) as departed_at,
    dep_delay,
    -- A flight that left before midnight ahead of its schedule is known with the day it was scheduled for.
    greatest(flight_date, date_add(flight_date, cast(floor(departure_minute / 1440) as int))) as departure_known_on,
    if(arr_time is null, null, {{ at_minute('flight_date', 'arrival_minute') }}) as arrived_at,
    arr_delay,
    air_time,
    greatest(flight_date, date_add(flight_date, cast(floor(arrival_minute / 1440) as int))) as arrival_known_on
from minutes
