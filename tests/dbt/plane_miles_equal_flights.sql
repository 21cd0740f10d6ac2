-- The totals that increments have added up must equal the totals over all flights.
with flown as (
    select
        tailnum,
        count(*) as flights,
        sum(distance) as distance_miles,
        max(flight_date) as last_flight_on
    from {{ ref('int_flights') }}
    where tailnum is not null
    group by tailnum
)

select coalesce(miles.tailnum, flown.tailnum) as tailnum
from {{ ref('int_plane_miles') }} as miles
full outer join flown
    on
        miles.tailnum = flown.tailnum
        and miles.flights = flown.flights
        and miles.distance_miles = flown.distance_miles
        and miles.last_flight_on = flown.last_flight_on
where
    miles.tailnum is null
    or flown.tailnum is null
