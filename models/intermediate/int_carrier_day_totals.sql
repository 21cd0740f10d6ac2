{{ totals_table(
    key=['carrier', 'flight_date'],
    sum=[
        'scheduled', 'cancelled', 'departed', 'arrived',
        'distance_miles', 'departure_delay_minutes', 'arrival_delay_minutes',
    ],
    max=['longest_departure_delay', 'longest_arrival_delay', 'known_on'],
) }}

-- What has been added since the last run. A flight whose status has changed comes twice, as it was (-U) and as it is
-- (+U): what it was is taken out again.
with contributions as (
    select
        carrier,
        flight_date,
        flight_date as known_on,
        1 as scheduled,
        distance as distance_miles,
        0 as cancelled,
        0 as departed,
        0 as departure_delay,
        cast(null as int) as dep_delay,
        0 as arrived,
        0 as arrival_delay,
        cast(null as int) as arr_delay
    from {{ paimon_changes(ref('int_flights')) }}

    union all

    select
        carrier,
        flight_date,
        known_on,
        0 as scheduled,
        0 as distance_miles,
        if(status = 'cancelled', sign, 0) as cancelled,
        if(departed_at is null, 0, sign) as departed,
        coalesce(dep_delay, 0) * sign as departure_delay,
        dep_delay,
        if(arrived_at is null, 0, sign) as arrived,
        coalesce(arr_delay, 0) * sign as arrival_delay,
        arr_delay
    from (
        select
            *,
            if(_row_kind in ('-U', '-D'), -1, 1) as sign
        from {{ paimon_changes(ref('int_flight_status'), before=true) }}
    ) as statuses
)

select
    carrier,
    flight_date,
    sum(scheduled) as scheduled,
    sum(cancelled) as cancelled,
    sum(departed) as departed,
    sum(arrived) as arrived,
    sum(distance_miles) as distance_miles,
    sum(departure_delay) as departure_delay_minutes,
    sum(arrival_delay) as arrival_delay_minutes,
    max(dep_delay) as longest_departure_delay,
    max(arr_delay) as longest_arrival_delay,
    max(known_on) as known_on
from contributions
group by carrier, flight_date
