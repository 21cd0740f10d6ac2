{{ config(
    materialized='incremental',
    incremental_strategy='upsert',
    primary_key='tailnum',
    merge_engine='first-row',
    bucket='auto',
) }}

-- One row per plane: the merge engine keeps the first row that was written for a key, and ignores later ones. Rows of
-- one run have no order, so the query picks the first sighting of each plane.
with sightings as (
    select
        tailnum,
        flight_id,
        flight_date,
        carrier,
        origin,
        row_number() over (partition by tailnum order by flight_date, sched_dep_time, flight_id) as sighting_no
    from {{ ref('int_flights') }}
    where
        tailnum is not null
        and {{ newly_known('flight_date', 'first_seen_on') }}
)

select
    tailnum,
    flight_id as first_flight_id,
    flight_date as first_seen_on,
    carrier as first_carrier,
    origin as first_origin
from sightings
where sighting_no = 1
