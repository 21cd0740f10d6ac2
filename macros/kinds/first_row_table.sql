{#- A table that keeps the first row ever written for a key and ignores the rest (first-row). -#}
{% macro first_row_table(key, buckets='auto') %}
    {%- set options = {
        'materialized': 'incremental',
        'incremental_strategy': 'upsert',
        'primary_key': key,
        'merge_engine': 'first-row',
        'bucket': buckets,
    } -%}
    {%- do options.update(kwargs) -%}
    {{ config(**options) }}
{% endmacro %}
