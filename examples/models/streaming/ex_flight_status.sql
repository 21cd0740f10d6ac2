{#- The latest status of each flight, from a stream of messages: files of a folder, or a Kafka topic. -#}
{{ config(
    materialized='streaming',
    primary_key='flight_id',
    sequence_field='message_no',
    bucket=1,
) }}

select
    flight_id,
    message_no,
    status,
    status_at,
    delay_minutes
from {{ stream(source('airport', 'flight_status')) }}
