-- Every day of the schedule, for reports and for the semantic layer's time spine.
select
    cast(date_day as date) as date_day,
    date_format(date_day, 'yyyy-MM') as date_month,
    dayofweek(date_day) in (1, 7) as is_weekend
from (select explode(sequence(date '2013-01-01', date '2013-12-31', interval 1 day)) as date_day) as calendar
