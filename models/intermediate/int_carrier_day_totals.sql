{{ config(
    materialized='materialized_view',
    primary_key=['carrier', 'flight_date'],
    bucket=1,
    maintenance={'expire_snapshots': {'retain_max': 20}},
) }}

-- One row per carrier and day, current after each run. An overnight arrival changes yesterday's row. If a status is
-- corrected, the totals no longer include the old one. Groups as large as these (more than a hundred rows) are computed
-- again as a whole: that is cheaper than to find the days that have changed.
with known as (
    select
        carrier,
        flight_date,
        flight_date as known_on,
        1 as scheduled,
        distance,
        null as status,
        null as departed_at,
        null as dep_delay,
        null as arrived_at,
        null as arr_delay
    from {{ ref('int_flights') }}

    union all

    select
        carrier,
        flight_date,
        known_on,
        0 as scheduled,
        0 as distance,
        status,
        departed_at,
        dep_delay,
        arrived_at,
        arr_delay
    from {{ ref('int_flight_status') }}
)

select
    carrier,
    flight_date,
    sum(scheduled) as scheduled,
    count_if(status = 'cancelled') as cancelled,
    count(departed_at) as departed,
    count(arrived_at) as arrived,
    sum(distance) as distance_miles,
    coalesce(sum(dep_delay), 0) as departure_delay_minutes,
    coalesce(sum(arr_delay), 0) as arrival_delay_minutes,
    max(dep_delay) as longest_departure_delay,
    max(arr_delay) as longest_arrival_delay,
    max(known_on) as known_on
from known
group by carrier, flight_date
