{#- dbt-spark's `current_timestamp()` is a syntax error where keywords are reserved (spark.sql.ansi.enforceReservedKeywords). -#}
{% macro paimon__current_timestamp() -%}
now()
{%- endmacro %}
