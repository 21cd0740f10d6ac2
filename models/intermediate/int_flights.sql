{{ log_table(bucket_key='flight_id', event_time='flight_date') }}

select *
from {{ ref('stg_flights') }}
where
    {{ newly_known('flight_date') }}
