{{ config(primary_key='faa', bucket=1) }}

-- Four airports in Puerto Rico and the Virgin Islands are flown to but not in the file; a seed adds them.
select
    faa,
    airport_name,
    latitude,
    longitude,
    altitude_feet,
    utc_offset_hours,
    daylight_saving,
    time_zone
from {{ ref('stg_airports') }}

union all

select
    faa,
    name as airport_name,
    lat as latitude,
    lon as longitude,
    alt as altitude_feet,
    tz as utc_offset_hours,
    dst as daylight_saving,
    tzone as time_zone
from {{ ref('missing_airports') }}
