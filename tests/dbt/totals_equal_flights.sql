-- The totals must equal the totals over all flights.
with totals as (
    select
        carrier,
        sum(scheduled) as scheduled,
        sum(departed) as departed,
        sum(departure_delay_minutes) as departure_delay_minutes,
        sum(arrival_delay_minutes) as arrival_delay_minutes
    from {{ ref('int_carrier_day_totals') }}
    group by carrier
),

flights as (
    select
        carrier,
        count(*) as scheduled,
        count(dep_delay) as departed,
        coalesce(sum(dep_delay), 0) as departure_delay_minutes,
        coalesce(sum(arr_delay), 0) as arrival_delay_minutes
    from {{ ref('fct_flights') }}
    group by carrier
)

select
    coalesce(totals.carrier, flights.carrier) as carrier,
    totals.scheduled as scheduled_in_totals,
    flights.scheduled as scheduled_in_flights
from totals
full outer join flights
    on
        totals.carrier = flights.carrier
        and totals.scheduled = flights.scheduled
        and totals.departed = flights.departed
        and totals.departure_delay_minutes = flights.departure_delay_minutes
        and totals.arrival_delay_minutes = flights.arrival_delay_minutes
where
    totals.carrier is null
    or flights.carrier is null
