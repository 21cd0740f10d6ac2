-- Which of the three airports loses the most time, and in which months?
select
    airport_days.origin,
    airports.airport_name,
    date_format(airport_days.flight_date, 'yyyy-MM') as flight_month,
    sum(airport_days.scheduled) as scheduled,
    sum(airport_days.cancelled) as cancelled,
    sum(airport_days.departed) as departed,
    sum(airport_days.departed_late) as departed_late,
    sum(airport_days.departure_delay_minutes) as departure_delay_minutes,
    {{ percentage('sum(airport_days.departed_late)', 'sum(airport_days.departed)') }} as late_percent,
    {{ percentage('sum(airport_days.cancelled)', 'sum(airport_days.scheduled)') }} as cancelled_percent
from {{ ref('int_airport_days') }} as airport_days
inner join {{ ref('dim_airports') }} as airports
    on airport_days.origin = airports.faa
group by airport_days.origin, airports.airport_name, date_format(airport_days.flight_date, 'yyyy-MM')
