{#- dbt's own is a cast that PostgreSQL writes and Spark does not parse. -#}
{% macro paimon__current_timestamp_backcompat() -%}
current_timestamp()
{%- endmacro %}

{#- The wall clock of UTC, whatever the session's time zone. -#}
{% macro paimon__current_timestamp_in_utc_backcompat() -%}
to_utc_timestamp(current_timestamp(), current_timezone())
{%- endmacro %}
