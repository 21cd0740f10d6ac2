{{ history_table(partition_by='flight_month') }}

-- Months whose flights, legs or statuses have changed since the last run are built again; the others stay as they are.
with changed_months as (
    select news.flight_month
    from {{ paimon_changes(ref('stg_flights')) }} as news
    union
    select date_format(news.flight_date, 'yyyy-MM') as flight_month
    from {{ paimon_changes(ref('int_flight_legs')) }} as news
    union
    select flights.flight_month
    from {{ paimon_changes(ref('int_flight_status')) }} as news
    inner join {{ ref('stg_flights') }} as flights
        on news.flight_id = flights.flight_id
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
        status.status,
        legs.departed_at,
        legs.dep_delay,
        legs.arrived_at,
        legs.arr_delay,
        legs.air_time,
        flights.distance,
        greatest(flights.flight_date, legs.departure_known_on, legs.arrival_known_on) as known_on,
        flights.flight_month
    from {{ ref('stg_flights') }} as flights
    inner join {{ ref('int_flight_status') }} as status
        on flights.flight_id = status.flight_id
    left join {{ ref('int_flight_legs') }} as legs
        on flights.flight_id = legs.flight_id
    where flights.flight_date <= {{ known_until() }}
)

select *
from known
where flight_month in (select changed_months.flight_month from changed_months)
