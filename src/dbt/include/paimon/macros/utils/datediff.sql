{#-
  The number of boundaries between two times: from 23:59 to 00:01 it is one day. dbt-spark is wrong for many months,
  quarters, hours and minutes, and returns NULL for microseconds. Weeks start on Sunday, as in dbt-spark and dbt-postgres.
-#}
{% macro paimon__datediff(first_date, second_date, datepart) -%}
  {%- set part = paimon__datepart('datediff', datepart) -%}
  {%- if part in ('hour', 'minute', 'second', 'millisecond', 'microsecond') -%}
    {%- do return(paimon__clock_datediff(first_date, second_date, part)) -%}
  {%- endif -%}
  {%- set first = 'date(' ~ paimon__moment(first_date) ~ ')' -%}
  {%- set second = 'date(' ~ paimon__moment(second_date) ~ ')' -%}
  {%- if part == 'day' -%}
    datediff({{ second }}, {{ first }})
  {%- elif part == 'week' -%}
    ((datediff({{ second }}, {{ first }}) - dayofweek({{ second }}) + dayofweek({{ first }})) div 7)
  {%- elif part == 'month' -%}
    ((year({{ second }}) - year({{ first }})) * 12L + month({{ second }}) - month({{ first }}))
  {%- elif part == 'quarter' -%}
    ((year({{ second }}) - year({{ first }})) * 4L + quarter({{ second }}) - quarter({{ first }}))
  {%- else -%}
    (year({{ second }}) - year({{ first }}))
  {%- endif -%}
{%- endmacro %}

{#- The elapsed time between two timestamps; if one is a timestamp_ntz, the difference of wall clocks. -#}
{% macro paimon__clock_datediff(first_date, second_date, part) -%}
  {%- set microseconds = {
    'hour': '3600000000', 'minute': '60000000', 'second': '1000000', 'millisecond': '1000', 'microsecond': '1',
  } -%}
  {%- set first = paimon__moment(first_date) -%}
  {%- set second = paimon__moment(second_date) -%}
  case when 'timestamp_ntz' in (typeof({{ first }}), typeof({{ second }}))
    then {{ paimon__on_the_clock(second, part) }} - {{ paimon__on_the_clock(first, part) }}
    else (unix_micros(date_trunc('{{ part }}', {{ second }})) - unix_micros(date_trunc('{{ part }}', {{ first }})))
      div {{ microseconds[part] }}
  end
{%- endmacro %}

{#- Whole hours, minutes, … from 1970-01-01 to a timestamp, on the wall clock. -#}
{% macro paimon__on_the_clock(moment, part) -%}
  {%- set hours = '(unix_date(date(' ~ moment ~ ')) * 24L + hour(' ~ moment ~ '))' -%}
  {%- set minutes = '(' ~ hours ~ ' * 60 + minute(' ~ moment ~ '))' -%}
  {%- set a_second = {'second': '1', 'millisecond': '1000', 'microsecond': '1000000'} -%}
  {%- if part == 'hour' -%}
    {{ hours }}
  {%- elif part == 'minute' -%}
    {{ minutes }}
  {%- else -%}
    ({{ minutes }} * 60 * {{ a_second[part] }} + cast(extract(second from {{ moment }}) * {{ a_second[part] }} as bigint))
  {%- endif -%}
{%- endmacro %}
