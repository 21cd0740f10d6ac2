{{ config(bucket=1) }}

select
    airlines.carrier,
    airlines.carrier_name,
    groups.carrier_group,
    groups.alliance
from {{ ref('stg_airlines') }} as airlines
left join {{ ref('carrier_groups') }} as groups
    on airlines.carrier = groups.carrier
