{#- The messages that could not be parsed: none of them is in the status table, and none is lost. Each is listed once,
    although a full refresh of the stream reads all messages again and writes the same dead letters again. -#}
{{ config(materialized='table') }}

select distinct
    reason,
    place,
    cast(value as string) as message
from {{ dead_letters(ref('ex_flight_status')) }}
