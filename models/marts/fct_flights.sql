{{ config(
    materialized='incremental',
    incremental_strategy='insert_overwrite',
    partition_by='flight_month',
    on_schema_change='append_new_columns',
    table_tag={'name': month_end_tag(), 'if_exists': 'keep'},
) }}

-- One row per flight, partitioned by month. There is no primary key, because a run overwrites whole months: those in
-- which a flight was added or a status has changed since the last run, and no other. The first run after the end of
-- a month gives the table a tag, by which the state at that close can be read for good.
with changed_months as (
    select news.flight_month
    from {{ paimon_changes(ref('int_flights')) }} as news
    union
    select date_format(news.flight_date, 'yyyy-MM') as flight_month
    from {{ paimon_changes(ref('int_flight_status')) }} as news
),

known as (
    select
        flights.flight_id,
        flights.flight_date,
        flights.carrier,
        flights.flight_number,
        flights.tailnum,
        flights.origin,
        flights.dest,
        flights.sched_dep_hour,
        flights.scheduled_hour_at,
        coalesce(statuses.status, 'scheduled') as status,
        statuses.departed_at,
        statuses.dep_delay,
        statuses.arrived_at,
        statuses.arr_delay,
        statuses.air_time,
        flights.distance,
        greatest(flights.flight_date, statuses.known_on) as known_on,
        flights.flight_month
    from {{ ref('int_flights') }} as flights
    left join {{ ref('int_flight_status') }} as statuses
        on flights.flight_id = statuses.flight_id
)

select *
from known
where flight_month in (select changed_months.flight_month from changed_months)
