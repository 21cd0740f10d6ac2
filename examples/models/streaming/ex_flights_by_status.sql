{#- A batch table over the streamed one, as over any other table. -#}
{{ config(materialized='table') }}

select
    status,
    count(*) as flights,
    sum(delay_minutes) as delay_minutes
from {{ ref('ex_flight_status') }}
group by status
