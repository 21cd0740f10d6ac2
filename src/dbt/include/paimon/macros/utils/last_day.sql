{#- Calculates with dates. dbt's own uses timestamps, which depend on the session's time zone. -#}
{% macro paimon__last_day(date, datepart) -%}
  {%- set part = paimon__datepart('last_day', datepart) -%}
  {%- set day = 'date(' ~ paimon__moment(date) ~ ')' -%}
  {%- set months = {'month': 0, 'quarter': 2, 'year': 11} -%}
  {%- if part in months -%}
    last_day(add_months(trunc({{ day }}, '{{ part }}'), {{ months[part] }}))
  {%- elif part == 'week' -%}
    date_add(trunc({{ day }}, 'week'), 6)
  {%- elif part == 'day' -%}
    {{ day }}
  {%- else -%}
    {%- do exceptions.raise_compiler_error("last_day: use it with year, quarter, month, week or day, not " ~ part ~ ".") -%}
  {%- endif -%}
{%- endmacro %}
