{{ config(
    materialized='incremental',
    incremental_strategy='upsert',
    primary_key=['carrier', 'flight_date'],
    merge_engine='aggregation',
    fields={
        'scheduled': {'aggregate_function': 'sum'},
        'cancelled': {'aggregate_function': 'sum'},
        'departed': {'aggregate_function': 'sum'},
        'arrived': {'aggregate_function': 'sum'},
        'distance_miles': {'aggregate_function': 'sum'},
        'departure_delay_minutes': {'aggregate_function': 'sum'},
        'arrival_delay_minutes': {'aggregate_function': 'sum'},
        'longest_departure_delay': {'aggregate_function': 'max'},
        'longest_arrival_delay': {'aggregate_function': 'max'},
        'known_on': {'aggregate_function': 'max'},
    },
    bucket=1,
    post_hook="{{ compact(this) }}",
    maintenance={'expire_snapshots': {'retain_max': 20}},
) }}

-- One row per carrier and day. Paimon adds what a run writes to the row of the same key (sum) or keeps the greater
-- value (max). Until the files are compacted, each read has to do that addition. Reports read this table all day, so
-- the post-hook compacts it, once per run.
--
-- The query reads only what has changed since the last run (paimon_changes keeps the position in the table's own
-- commits, so nothing counts twice). A flight whose status has changed comes as two rows: the old one (-U), which is
-- subtracted, and the new one (+U), which is added. A maximum is never lowered.
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
