{#- Batches are counted back from today and the data end with 2013, so a run looks back to the first year. -#}
{{ history_table(
    partition_by='flight_month',
    strategy='microbatch',
    event_time='flight_date',
    begin='2013-01-01',
    batch_size='year',
    lookback=years_since(2013),
) }}

select
    origin,
    flight_date,
    sched_dep_hour,
    count(*) as scheduled,
    count_if(dep_time is null) as cancelled,
    count(dep_delay) as departed,
    count_if({{ is_late('dep_delay') }}) as departed_late,
    coalesce(sum(dep_delay), 0) as departure_delay_minutes,
    flight_month
from {{ ref('stg_flights') }}
group by origin, flight_date, sched_dep_hour, flight_month
