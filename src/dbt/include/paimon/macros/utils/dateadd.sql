{#-
  dbt-spark's macro drops microseconds, overflows a 32-bit integer (for example, for a million hours), and does not put
  the interval in parentheses (so `3 - 1` weeks are wrong). Dates and strings become timestamps; a timestamp_ntz keeps
  its type. Days and months follow the calendar in the session's time zone. An hour is always 3600 seconds, unlike in
  Spark's timestampadd, which adds every 24 hours as one calendar day, even if the clocks change during that day.
-#}
{% macro paimon__dateadd(datepart, interval, from_date_or_timestamp) -%}
  {%- set part = paimon__datepart('dateadd', datepart) -%}
  {%- set on_calendar = {
    'day': "interval '1' day", 'week': "interval '7' day",
    'month': "interval '1' month", 'quarter': "interval '3' month", 'year': "interval '1' year",
  } -%}
  {%- set seconds = {
    'hour': '3600.0', 'minute': '60.0', 'second': '1.0', 'millisecond': '0.001', 'microsecond': '0.000001',
  } -%}
  {%- set moment = paimon__moment(from_date_or_timestamp) -%}
  {%- if part in on_calendar -%}
    ({{ moment }} + ({{ interval }}) * {{ on_calendar[part] }})
  {%- else -%}
    ({{ moment }} + make_interval(0, 0, 0, 0, 0, 0, ({{ interval }}) * {{ seconds[part] }}))
  {%- endif -%}
{%- endmacro %}

{#- Convert a date or a string to a timestamp. Unlike a cast, this keeps a timestamp_ntz. -#}
{% macro paimon__moment(expression) -%}
timestampadd(microsecond, 0, {{ expression }})
{%- endmacro %}

{#- A datepart in lower case. Refuses unknown ones, for which Spark's functions return NULL. -#}
{% macro paimon__datepart(called, datepart) -%}
  {%- set parts = ('year', 'quarter', 'month', 'week', 'day', 'hour', 'minute', 'second', 'millisecond', 'microsecond') -%}
  {%- set of_spark = {'yyyy': 'year', 'yy': 'year', 'mm': 'month', 'mon': 'month', 'dd': 'day'} -%}
  {%- set part = datepart | string | lower | trim -%}
  {%- set part = of_spark.get(part, part) -%}
  {%- if part not in parts -%}
    {%- do exceptions.raise_compiler_error(
      called ~ ": '" ~ datepart ~ "' is not a datepart. Use one of " ~ parts | join(', ') ~ "."
    ) -%}
  {%- endif -%}
  {%- do return(part) -%}
{%- endmacro %}
