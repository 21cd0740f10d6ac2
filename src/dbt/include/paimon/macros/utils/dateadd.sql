{#- dbt-spark takes milliseconds for microseconds, and loses what is less than a second. -#}
{% macro paimon__dateadd(datepart, interval, from_date_or_timestamp) -%}
  {%- if datepart | lower in ('millisecond', 'microsecond') -%}
timestampadd({{ datepart }}, {{ interval }}, cast({{ from_date_or_timestamp }} as timestamp))
  {%- else -%}
{{ spark__dateadd(datepart, interval, from_date_or_timestamp) }}
  {%- endif -%}
{%- endmacro %}
