{{ config(materialized='materialized_view') }}

-- Which flights came late, and who flew them? A run reads the flights whose status has changed and, when a carrier has
-- another name or alliance, the flights of that carrier.
select
    statuses.flight_id,
    statuses.flight_date,
    statuses.carrier,
    carriers.carrier_name,
    carriers.alliance,
    statuses.dep_delay,
    statuses.arr_delay
from {{ ref('int_flight_status') }} as statuses
left join {{ ref('dim_carriers') }} as carriers
    on statuses.carrier = carriers.carrier
where {{ is_late('statuses.arr_delay') }}
