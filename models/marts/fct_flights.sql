{{ history_table(partition_by='flight_month') }}

-- The months that a message has arrived for since the last run are rewritten; the others are left as they are.
with known as (
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
{% if is_incremental() %}
where
    flight_month in (
        select changed.flight_month
        from known as changed
        where changed.known_on > {{ last_day_held('known_on') }}
    )
{% endif %}
