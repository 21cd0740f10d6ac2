select
    origin,
    time_hour as observed_at,
    make_date(year, month, day) as observed_on,
    temp as temperature_f,
    dewp as dew_point_f,
    humid as humidity_percent,
    wind_dir as wind_direction_degrees,
    -- One reading of 1,048 mph is in the file; no wind on record comes near the limit.
    if(wind_speed > 250, null, wind_speed) as wind_speed_mph,
    wind_gust as wind_gust_mph,
    precip as precipitation_inches,
    pressure as pressure_millibars,
    visib as visibility_miles
from {{ landing_file('weather') }}
