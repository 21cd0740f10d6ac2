{{ config(
    materialized='incremental',
    incremental_strategy='merge',
    primary_key=['origin', 'observed_at'],
    merge_engine='deduplicate',
    deletion_vectors=true,
    bucket=1,
    maintenance={'compact': {'small_files': 2}, 'expire_snapshots': {'retain_max': 20}},
) }}

-- Stations correct their last readings, so the last day in the table is read again and merged over it: MERGE writes
-- only the rows that match or are new. Deletion vectors mark the old rows, so that reads need not merge files.
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
