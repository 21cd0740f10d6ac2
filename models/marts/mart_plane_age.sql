-- Do old planes run late?
with flights as (
    select
        flights.flight_id,
        flights.tailnum,
        flights.arr_delay,
        flights.distance,
        case
            when planes.built_in is null then 'unknown'
            when year(flights.flight_date) - planes.built_in < 5 then 'under 5 years'
            when year(flights.flight_date) - planes.built_in < 15 then '5 to 14 years'
            when year(flights.flight_date) - planes.built_in < 25 then '15 to 24 years'
            else '25 years and more'
        end as age_band
    from {{ ref('fct_flights') }} as flights
    left join {{ ref('dim_planes') }} as planes
        on flights.tailnum = planes.tailnum
)

select
    age_band,
    count(distinct tailnum) as planes,
    count(*) as flights,
    sum(distance) as distance_miles,
    coalesce(sum(arr_delay), 0) as arrival_delay_minutes,
    round(avg(arr_delay), 2) as mean_arrival_delay
from flights
group by age_band
