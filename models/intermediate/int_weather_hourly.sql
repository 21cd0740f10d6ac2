{{ keyed_table(key=['origin', 'observed_at'], strategy='merge', buckets=1, deletion_vectors=true, post_hook=[]) }}

-- Stations correct their last readings, so the last day in the table is read again and merged over it.
select
    origin,
    observed_at,
    observed_on,
    temperature_f,
    dew_point_f,
    humidity_percent,
    wind_direction_degrees,
    wind_speed_mph,
    wind_gust_mph,
    precipitation_inches,
    pressure_millibars,
    visibility_miles
from {{ ref('stg_weather') }}
where
    observed_on <= {{ known_until() }}
    {% if is_incremental() %}
    and observed_on >= {{ last_day_held('observed_on') }}
    {% endif %}
