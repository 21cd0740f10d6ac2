{#- What the stream could not read: none of it is in the status table, and none of it is lost. Each once, though a full
    refresh of the stream reads all messages again and puts the same ones aside again. -#}
{{ config(materialized='table') }}

select distinct
    reason,
    place,
    cast(value as string) as message
from {{ dead_letters(ref('ex_flight_status')) }}
