{#-
  The start of a day, a week (Monday), an hour, … Spark's date_trunc returns a timestamp for a timestamp_ntz, which shifts
  times that the session's time zone skips.
-#}
{% macro paimon__date_trunc(datepart, date) -%}
  {%- set part = paimon__datepart('date_trunc', datepart) -%}
  {%- set moment = paimon__moment(date) -%}
  {%- set day = 'date(' ~ moment ~ ')' -%}
  {%- set seconds = 'extract(second from ' ~ moment ~ ')' -%}
  {%- set rest = {
    'hour': 'minute(' ~ moment ~ ') * 60 + ' ~ seconds, 'minute': seconds,
    'second': seconds ~ ' % 1', 'millisecond': seconds ~ ' % 0.001',
  } -%}
  {%- if part == 'microsecond' -%}
    {{ moment }}
  {%- elif part in rest -%}
    ({{ moment }} - make_interval(0, 0, 0, 0, 0, 0, {{ rest[part] }}))
  {%- else -%}
    {#- The first branch never runs, and only sets the type. #}
    case when false then {{ moment }} else {{ day if part == 'day' else 'trunc(' ~ day ~ ", '" ~ part ~ "')" }} end
  {%- endif -%}
{%- endmacro %}
