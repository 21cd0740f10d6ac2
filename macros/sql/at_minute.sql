{#- The timestamp that lies some minutes (also negative, also beyond a day) after a date's midnight. -#}
{% macro at_minute(day, minutes) -%}
    cast({{ day }} as timestamp) + make_dt_interval(0, 0, {{ minutes }})
{%- endmacro %}
