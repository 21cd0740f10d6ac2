{#- The interval is not in parentheses, and seconds are ints. -#}
{% macro paimon__dateadd(datepart, interval, from_date_or_timestamp) -%}
{{ spark__dateadd(datepart, interval, from_date_or_timestamp) }}
{%- endmacro %}
