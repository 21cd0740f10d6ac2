-- When in the day do delays build up?
select
    sched_dep_hour,
    sum(scheduled) as scheduled,
    sum(cancelled) as cancelled,
    sum(departed) as departed,
    sum(departed_late) as departed_late,
    sum(departure_delay_minutes) as departure_delay_minutes,
    round(sum(departure_delay_minutes) / nullif(sum(departed), 0), 2) as mean_departure_delay,
    {{ percentage('sum(departed_late)', 'sum(departed)') }} as late_percent
from {{ ref('fct_hourly_departures') }}
group by sched_dep_hour
