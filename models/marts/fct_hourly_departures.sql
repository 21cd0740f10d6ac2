{{ config(
    materialized='incremental',
    incremental_strategy='insert_overwrite',
    partition_by='flight_month',
    on_schema_change='append_new_columns',
) }}

-- One row per airport and hour, partitioned by month: a run overwrites the months in which something has changed.
with changed_months as (
    select news.flight_month
    from {{ paimon_changes(ref('int_flights')) }} as news
    union
    select date_format(news.flight_date, 'yyyy-MM') as flight_month
    from {{ paimon_changes(ref('int_flight_status')) }} as news
)

select
    flights.origin,
    flights.flight_date,
    flights.sched_dep_hour,
    count(*) as scheduled,
    count_if(statuses.status = 'cancelled') as cancelled,
    count(statuses.dep_delay) as departed,
    count_if({{ is_late('statuses.dep_delay') }}) as departed_late,
    coalesce(sum(statuses.dep_delay), 0) as departure_delay_minutes,
    flights.flight_month
from {{ ref('int_flights') }} as flights
left join {{ ref('int_flight_status') }} as statuses
    on flights.flight_id = statuses.flight_id
where flights.flight_month in (select changed_months.flight_month from changed_months)
group by flights.origin, flights.flight_date, flights.sched_dep_hour, flights.flight_month
