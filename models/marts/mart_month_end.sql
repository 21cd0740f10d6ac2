{% set flights = ref('fct_flights') %}

-- What has come in about the months whose books were closed last? The tag has the flights as they were then.
with at_close as (
    select
        flight_month,
        count(arr_delay) as arrived,
        coalesce(sum(arr_delay), 0) as arrival_delay_minutes
    from {{ at(flights, tag=month_end_tag()) }}
    group by flight_month
),

by_now as (
    select
        flight_month,
        count(arr_delay) as arrived,
        coalesce(sum(arr_delay), 0) as arrival_delay_minutes
    from {{ flights }}
    where flight_month <= '{{ last_ended_month() }}'
    group by flight_month
)

select
    by_now.flight_month,
    coalesce(at_close.arrived, 0) as arrived_at_close,
    by_now.arrived as arrived_by_now,
    coalesce(at_close.arrival_delay_minutes, 0) as arrival_delay_minutes_at_close,
    by_now.arrival_delay_minutes as arrival_delay_minutes_by_now
from by_now
left join at_close
    on by_now.flight_month = at_close.flight_month
