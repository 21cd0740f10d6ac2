{{ config(
    materialized='incremental',
    incremental_strategy='upsert',
    primary_key='tailnum',
    merge_engine='aggregation',
    fields={
        'flights': {'aggregate_function': 'sum'},
        'distance_miles': {'aggregate_function': 'sum'},
        'last_flight_on': {'aggregate_function': 'max'},
    },
    bucket=1,
    post_hook="{{ compact(this) }}",
    maintenance={'expire_snapshots': {'retain_max': 20}},
) }}

-- One row per plane. Flights only arrive, so the totals only grow: a run writes what its new flights add, and Paimon adds
-- it to the row of the plane (sum) or keeps the later day (max). Until the files are compacted, each read has to do that
-- addition, so the post-hook compacts the table, once per run.
--
-- paimon_changes keeps the position in the table's own commits, so no flight counts twice.
select
    tailnum,
    count(*) as flights,
    sum(distance) as distance_miles,
    max(flight_date) as last_flight_on
from {{ paimon_changes(ref('int_flights')) }}
where tailnum is not null
group by tailnum
