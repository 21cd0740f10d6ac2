{#- dbt's own casts in PostgreSQL's syntax, which Spark cannot parse. -#}
{% macro paimon__current_timestamp_backcompat() -%}
now()
{%- endmacro %}

{#- The current time in UTC, whatever the session's time zone. -#}
{% macro paimon__current_timestamp_in_utc_backcompat() -%}
to_utc_timestamp(now(), current_timezone())
{%- endmacro %}
