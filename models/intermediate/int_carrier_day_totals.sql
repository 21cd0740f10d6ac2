{{ totals_table(
    key=['carrier', 'flight_date'],
    sum=[
        'scheduled', 'cancelled', 'departed', 'arrived',
        'distance_miles', 'departure_delay_minutes', 'arrival_delay_minutes',
    ],
    max=['longest_departure_delay', 'longest_arrival_delay', 'known_on'],
) }}

-- An arrival after midnight adds to the totals of the day its flight was scheduled for, in a later run.
with contributions as (
    select
        carrier,
        flight_date,
        flight_date as known_on,
        1 as scheduled,
        if(dep_time is null, 1, 0) as cancelled,
        distance as distance_miles,
        0 as departed,
        cast(null as int) as dep_delay,
        0 as arrived,
        cast(null as int) as arr_delay
    from {{ ref('stg_flights') }}

    union all

    select
        carrier,
        flight_date,
        known_on,
        0 as scheduled,
        0 as cancelled,
        0 as distance_miles,
        1 as departed,
        dep_delay,
        0 as arrived,
        cast(null as int) as arr_delay
    from {{ ref('int_departure_messages') }}

    union all

    select
        carrier,
        flight_date,
        known_on,
        0 as scheduled,
        0 as cancelled,
        0 as distance_miles,
        0 as departed,
        cast(null as int) as dep_delay,
        1 as arrived,
        arr_delay
    from {{ ref('int_arrival_messages') }}
)

select
    carrier,
    flight_date,
    sum(scheduled) as scheduled,
    sum(cancelled) as cancelled,
    sum(departed) as departed,
    sum(arrived) as arrived,
    sum(distance_miles) as distance_miles,
    coalesce(sum(dep_delay), 0) as departure_delay_minutes,
    coalesce(sum(arr_delay), 0) as arrival_delay_minutes,
    max(dep_delay) as longest_departure_delay,
    max(arr_delay) as longest_arrival_delay,
    max(known_on) as known_on
from contributions
where
    {{ newly_known('known_on') }}
group by carrier, flight_date
