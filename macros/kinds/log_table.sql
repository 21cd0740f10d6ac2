{#- A table that only grows (no primary key), its rows spread over a fixed number of buckets by `bucket_key`, so that
    a lookup by that column reads one bucket. -#}
{% macro log_table(bucket_key, buckets=4) %}
    {%- set options = {
        'materialized': 'incremental',
        'incremental_strategy': 'append',
        'bucket': buckets,
        'bucket_key': bucket_key,
    } -%}
    {%- do options.update(kwargs) -%}
    {{ config(**options) }}
{% endmacro %}
