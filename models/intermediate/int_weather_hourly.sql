{% set readings = [
    'temperature_f', 'dew_point_f', 'humidity_percent', 'wind_direction_degrees', 'wind_speed_mph', 'wind_gust_mph',
    'precipitation_inches', 'pressure_millibars', 'visibility_miles',
] %}
{% set changed = [] %}
{% for reading in readings %}
{% do changed.append('DBT_INTERNAL_SOURCE.' ~ reading ~ ' is distinct from DBT_INTERNAL_DEST.' ~ reading) %}
{% endfor %}
{{ config(
    materialized='incremental',
    incremental_strategy='merge',
    matched_condition=changed | join(' or '),
    primary_key=['origin', 'observed_at'],
    merge_engine='deduplicate',
    deletion_vectors=true,
    bucket=1,
    maintenance={'compact': {'small_files': 2}, 'expire_snapshots': {'retain_max': 20}},
) }}

-- One row per station and hour. Stations correct their latest readings, so a run reads the last day that the table
-- has once more, with the days after it. Most of those readings are the same as before: MERGE with a condition
-- rewrites only the hours that differ, and adds the new ones. A row that is replaced is marked in its file (a
-- deletion vector), so that reads skip it and need not merge files.
select
    origin,
    observed_at,
    observed_on,
    {{ readings | join(',\n    ') }}
from {{ ref('stg_weather') }}
where
    observed_on <= {{ known_until() }}
    {% if is_incremental() %}
    and observed_on >= {{ last_day_held('observed_on') }}
    {% endif %}
