-- What is known of a plane by now: the register's facts, and who flies it. Its operator is the carrier of its last
-- flight, since the first flight of that unbroken run.
with flown as (
    select
        tailnum,
        carrier,
        flight_date,
        sched_dep_time,
        flight_id
    from {{ ref('int_flights') }}
    where
        tailnum is not null
),

handovers as (
    select
        *,
        lag(carrier) over (partition by tailnum order by flight_date, sched_dep_time, flight_id) as carrier_before
    from flown
),

operators as (
    select
        tailnum,
        max_by(carrier, struct(flight_date, sched_dep_time, flight_id)) as operated_by,
        max(flight_date) as operated_since
    from handovers
    where carrier_before is null or carrier_before != carrier
    group by tailnum
)

select
    planes.tailnum,
    planes.built_in,
    planes.plane_type,
    planes.manufacturer,
    planes.model,
    planes.engines,
    planes.seats,
    planes.engine_type,
    operators.operated_by,
    cast(operators.operated_since as timestamp) as operated_since
from {{ ref('stg_planes') }} as planes
inner join operators
    on planes.tailnum = operators.tailnum
