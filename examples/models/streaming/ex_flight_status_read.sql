{#- Batch next to streaming: only the flights that the stream has updated since this model's last run. -#}
{{ config(
    materialized='incremental',
    primary_key='flight_id',
    rowkind_field='_row_kind',
    bucket=1,
) }}

select
    flight_id,
    status,
    delay_minutes,
    _row_kind
from {{ paimon_changes(ref('ex_flight_status')) }}
