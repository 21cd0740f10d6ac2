select
    flights.flight_id,
    flights.flight_date,
    flights.origin,
    flights.scheduled_hour_at,
    flights.status,
    flights.dep_delay,
    weather.visibility_miles,
    weather.wind_speed_mph,
    weather.precipitation_inches,
    case
        when weather.observed_at is null then 'unknown'
        when weather.precipitation_inches > 0 then 'rain or snow'
        when weather.visibility_miles < 5 then 'poor visibility'
        when weather.wind_speed_mph >= 20 then 'strong wind'
        else 'fair'
    end as weather_condition
from {{ ref('fct_flights') }} as flights
left join {{ ref('int_weather_hourly') }} as weather
    on
        flights.origin = weather.origin
        and flights.scheduled_hour_at = weather.observed_at
