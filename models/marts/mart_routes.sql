-- How punctual is each route, and how many carriers share it?
select
    flights.origin,
    flights.dest,
    airports.airport_name as dest_name,
    count(*) as scheduled,
    count(distinct flights.carrier) as carriers,
    count(flights.arr_delay) as arrived,
    sum(flights.distance) as distance_miles,
    coalesce(sum(flights.air_time), 0) as air_minutes,
    coalesce(sum(flights.arr_delay), 0) as arrival_delay_minutes,
    round(avg(flights.arr_delay), 2) as mean_arrival_delay
from {{ ref('fct_flights') }} as flights
inner join {{ ref('dim_airports') }} as airports
    on flights.dest = airports.faa
group by flights.origin, flights.dest, airports.airport_name
