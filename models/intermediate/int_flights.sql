{{ config(
    materialized='incremental',
    incremental_strategy='append',
    bucket=4,
    bucket_key='flight_id',
    event_time='flight_date',
) }}

-- A schedule never changes, so the table has no primary key and a run only adds files. A lookup by flight_id reads
-- one of the four buckets.

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
