{#- Minutes since midnight out of a clock time written as the number hhmm: 517 -> 317, 2400 -> 1440. -#}
{% macro hhmm_to_minutes(column) -%}
    (({{ column }} div 100) * 60 + {{ column }} % 100)
{%- endmacro %}
