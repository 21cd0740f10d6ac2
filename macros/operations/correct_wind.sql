{#- Correct the wind speeds of one station over some days, on a branch of the table. Its readers see the change only
    after the branch is checked and published (docs/lakehouse.md has the commands). -#}
{% macro correct_wind(origin, first_day, last_day, factor, branch='correction') %}
    {%- set corrected = at(ref('int_weather_hourly'), branch=branch) -%}
    {%- do run_query(
        'update ' ~ corrected
        ~ ' set wind_speed_mph = wind_speed_mph * ' ~ factor ~ ', wind_gust_mph = wind_gust_mph * ' ~ factor
        ~ " where origin = '" ~ origin ~ "'"
        ~ " and observed_on between date '" ~ first_day ~ "' and date '" ~ last_day ~ "'"
    ) -%}
{% endmacro %}
