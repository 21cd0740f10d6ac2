{#- dbt-spark's `current_timestamp()` is a syntax error where keywords are reserved (spark.sql.ansi.enforceReservedKeywords). -#}
{% macro paimon__current_timestamp() -%}
now()
{%- endmacro %}

{#- dbt's own macro casts with `::`, which Spark 3.5 cannot parse. -#}
{% macro paimon__current_timestamp_backcompat() -%}
now()
{%- endmacro %}

{#- The current time in UTC, whatever the session's time zone. -#}
{% macro paimon__current_timestamp_in_utc_backcompat() -%}
to_utc_timestamp(now(), current_timezone())
{%- endmacro %}
