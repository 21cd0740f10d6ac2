{{ config(materialized='ephemeral') }}

with times as (
    select * from {{ ref('int_flight_times') }}
)

select
    flight_id,
    1 as message_no,
    'scheduled' as status,
    scheduled_departure_at as status_at,
    flight_date as known_on
from times

union all

select
    flight_id,
    2 as message_no,
    'departed' as status,
    departed_at as status_at,
    departure_known_on as known_on
from times
where departed_at is not null

union all

select
    flight_id,
    3 as message_no,
    case
        when departed_at is null then 'cancelled'
        when arr_delay is null then 'diverted'
        else 'arrived'
    end as status,
    coalesce(arrived_at, departed_at, scheduled_departure_at) as status_at,
    greatest(departure_known_on, arrival_known_on) as known_on
from times
