-- Which carriers keep to their schedule?
select
    flights.carrier,
    carriers.carrier_name,
    carriers.carrier_group,
    count(*) as scheduled,
    count_if(flights.status = 'cancelled') as cancelled,
    count_if(flights.status = 'diverted') as diverted,
    count(flights.arr_delay) as arrived,
    count_if({{ is_late('flights.arr_delay') }}) as arrived_late,
    coalesce(sum(flights.dep_delay), 0) as departure_delay_minutes,
    coalesce(sum(flights.arr_delay), 0) as arrival_delay_minutes,
    round(avg(flights.arr_delay), 2) as mean_arrival_delay,
    {{ percentage(
        'count_if(' ~ is_late('flights.arr_delay') ~ ')', 'count(flights.arr_delay)'
    ) }} as late_percent
from {{ ref('fct_flights') }} as flights
inner join {{ ref('dim_carriers') }} as carriers
    on flights.carrier = carriers.carrier
group by flights.carrier, carriers.carrier_name, carriers.carrier_group
