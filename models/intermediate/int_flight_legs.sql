{{ feeds_table(
    key='flight_id',
    feeds={
        'departed_at': ['dep_delay', 'departure_known_on'],
        'arrived_at': ['arr_delay', 'air_time', 'arrival_known_on'],
    },
) }}

{% set held = 'greatest(departure_known_on, arrival_known_on)' %}

select
    flight_id,
    flight_date,
    carrier,
    departed_at,
    dep_delay,
    known_on as departure_known_on,
    cast(null as timestamp) as arrived_at,
    cast(null as int) as arr_delay,
    cast(null as int) as air_time,
    cast(null as date) as arrival_known_on
from {{ ref('int_departure_messages') }}
where
    {{ newly_known('known_on', held) }}

union all

select
    flight_id,
    flight_date,
    carrier,
    cast(null as timestamp) as departed_at,
    cast(null as int) as dep_delay,
    cast(null as date) as departure_known_on,
    arrived_at,
    arr_delay,
    air_time,
    known_on as arrival_known_on
from {{ ref('int_arrival_messages') }}
where
    {{ newly_known('known_on', held) }}
