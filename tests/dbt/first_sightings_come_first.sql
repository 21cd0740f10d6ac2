-- No flight of a plane may be earlier than the plane's first sighting.
select
    flights.tailnum,
    flights.flight_id
from {{ ref('int_flights') }} as flights
inner join {{ ref('int_plane_first_sightings') }} as sightings
    on flights.tailnum = sightings.tailnum
where flights.flight_date < sightings.first_seen_on
