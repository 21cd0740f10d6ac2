-- How late are late departures, carrier by carrier?
select
    flights.carrier,
    bands.band_id,
    bands.band,
    count(*) as departed,
    sum(flights.dep_delay) as departure_delay_minutes,
    {{ percentage('count(*)', 'sum(count(*)) over (partition by flights.carrier)') }} as percent_of_carrier
from {{ ref('fct_flights') }} as flights
inner join {{ ref('delay_bands') }} as bands
    on
        flights.dep_delay >= bands.from_minutes
        and flights.dep_delay < bands.below_minutes
group by flights.carrier, bands.band_id, bands.band
