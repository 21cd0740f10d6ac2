{#- The tag of the last month that has ended by `known_until`: `month_end_2013_06` from June 30 to July 30. The first
    run after a month's end creates it, and so closes the month's books. -#}
{% macro month_end_tag() -%}
    {{ return('month_end_' ~ last_ended_month() | replace('-', '_')) }}
{%- endmacro %}


{#- The last month that has ended by `known_until`, as yyyy-MM. -#}
{% macro last_ended_month() -%}
    {%- set day = known_day() -%}
    {#- While dbt parses, `known_day` does not refuse an invalid date yet. -#}
    {%- if not (day | length == 10 and day[:4].isdigit()) -%}{{ return(day) }}{%- endif -%}
    {%- set day_after = modules.datetime.datetime.strptime(day, '%Y-%m-%d') + modules.datetime.timedelta(days=1) -%}
    {{ return((day_after.replace(day=1) - modules.datetime.timedelta(days=1)).strftime('%Y-%m')) }}
{%- endmacro %}
