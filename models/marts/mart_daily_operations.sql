{{ config(materialized='view') }}

-- How did each day go?
select
    flight_date,
    count(*) as carriers,
    sum(scheduled) as scheduled,
    sum(cancelled) as cancelled,
    sum(departed) as departed,
    sum(arrived) as arrived,
    sum(distance_miles) as distance_miles,
    sum(departure_delay_minutes) as departure_delay_minutes,
    sum(arrival_delay_minutes) as arrival_delay_minutes,
    max(longest_departure_delay) as longest_departure_delay
from {{ ref('int_carrier_day_totals') }}
group by flight_date
