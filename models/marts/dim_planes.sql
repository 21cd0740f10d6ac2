{{ config(primary_key='tailnum', bucket=1) }}

select
    sightings.tailnum,
    planes.tailnum is not null as in_register,
    planes.built_in,
    planes.manufacturer,
    planes.model,
    planes.engines,
    planes.seats,
    planes.engine_type,
    coalesce(planes.operated_by, sightings.first_carrier) as operated_by,
    sightings.first_seen_on,
    sightings.first_flight_id
from {{ ref('int_plane_first_sightings') }} as sightings
left join {{ ref('planes_snapshot') }} as planes
    on
        sightings.tailnum = planes.tailnum
        and planes.dbt_valid_to is null
