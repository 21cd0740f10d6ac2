-- How much does the weather at the airport cost?
select
    origin,
    weather_condition,
    count(*) as scheduled,
    count_if(status = 'cancelled') as cancelled,
    count(dep_delay) as departed,
    count_if({{ is_late('dep_delay') }}) as departed_late,
    coalesce(sum(dep_delay), 0) as departure_delay_minutes,
    round(avg(dep_delay), 2) as mean_departure_delay,
    {{ percentage("count_if(status = 'cancelled')", 'count(*)') }} as cancelled_percent
from {{ ref('int_flight_weather') }}
group by origin, weather_condition
