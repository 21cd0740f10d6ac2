{{ config(
    materialized='incremental',
    incremental_strategy='append',
    bucket=4,
    bucket_key='flight_id',
    event_time='flight_date',
) }}

-- One row per scheduled flight. A schedule never changes, so the table needs no primary key: a run only adds the
-- flights that it has not loaded yet (newly_known). Rows are spread over four buckets by flight_id, so a lookup by
-- flight_id reads one of the four.
select
    flight_id,
    flight_date,
    flight_month,
    carrier,
    flight_number,
    tailnum,
    origin,
    dest,
    sched_dep_time,
    sched_dep_hour,
    sched_arr_time,
    distance,
    scheduled_hour_at
from {{ ref('stg_flights') }}
where
    {{ newly_known('flight_date') }}
