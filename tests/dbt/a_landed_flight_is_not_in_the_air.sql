-- A flight's status and its times are ordered by separate sequence fields, and must agree.
select
    flight_id,
    status,
    departed_at,
    arrived_at
from {{ ref('fct_flights') }}
where
    (status = 'departed') != (departed_at is not null and arrived_at is null and status != 'diverted')
    or (status = 'arrived') != (arr_delay is not null)
    or (status in ('cancelled', 'scheduled')) != (departed_at is null)
