select
    faa,
    name as airport_name,
    lat as latitude,
    lon as longitude,
    alt as altitude_feet,
    tz as utc_offset_hours,
    dst as daylight_saving,
    tzone as time_zone
from {{ landing_file('airports') }}
