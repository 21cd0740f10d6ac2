-- How much does the weather at the airport cost?
with conditions as (
    select
        origin,
        observed_at,
        -- The worst of the hour.
        case
            when precipitation_inches > 0 then 'rain or snow'
            when visibility_miles < 5 then 'poor visibility'
            when wind_speed_mph >= 20 then 'strong wind'
            else 'fair'
        end as weather_condition
    from {{ ref('int_weather_hourly') }}
)

select
    flights.origin,
    coalesce(conditions.weather_condition, 'unknown') as weather_condition,
    count(*) as scheduled,
    count_if(flights.status = 'cancelled') as cancelled,
    count(flights.dep_delay) as departed,
    count_if({{ is_late('flights.dep_delay') }}) as departed_late,
    coalesce(sum(flights.dep_delay), 0) as departure_delay_minutes,
    round(avg(flights.dep_delay), 2) as mean_departure_delay,
    {{ percentage("count_if(flights.status = 'cancelled')", 'count(*)') }} as cancelled_percent
from {{ ref('fct_flights') }} as flights
left join conditions
    on
        flights.origin = conditions.origin
        and flights.scheduled_hour_at = conditions.observed_at
group by flights.origin, coalesce(conditions.weather_condition, 'unknown')
