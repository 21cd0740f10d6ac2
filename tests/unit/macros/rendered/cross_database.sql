select
  try_cast(status as decimal(10,2)),
  (timestampadd(microsecond, 0, day) + (3) * interval '1' month),
  case when 'timestamp_ntz' in (typeof(timestampadd(microsecond, 0, day)), typeof(timestampadd(microsecond, 0, now())))
    then (unix_date(date(timestampadd(microsecond, 0, now()))) * 24L + hour(timestampadd(microsecond, 0, now()))) - (unix_date(date(timestampadd(microsecond, 0, day))) * 24L + hour(timestampadd(microsecond, 0, day)))
    else (unix_micros(date_trunc('hour', timestampadd(microsecond, 0, now()))) - unix_micros(date_trunc('hour', timestampadd(microsecond, 0, day))))
      div 3600000000
  end,
  case when false then timestampadd(microsecond, 0, day) else trunc(date(timestampadd(microsecond, 0, day)), 'week') end,
  last_day(add_months(trunc(date(timestampadd(microsecond, 0, day)), 'quarter'), 2)),
  cast('2024-02-29' as date),
  get(split(status, concat('\\Q', '|', '\\E')), size(split(status, concat('\\Q', '|', '\\E'))) + (-1)),
  array_join(transform(slice(array_sort(
      collect_list(case when status is not null then struct(
        cast(status as string) as measure, id as key_1
      ) end),
      (one, other) -> case
    when one.key_1 is null and other.key_1 is not null then 1
    when one.key_1 is not null and other.key_1 is null then -1
    when one.key_1 < other.key_1 then 1
    when one.key_1 > other.key_1 then -1
    else 0
  end
    ), 1, 3), pair -> pair.measure), ', '),
  array( id , 2 ),
  'it\'s \\\\'
from orders
