{#- A table with one row per key. The default strategy is the upsert, which on a primary-key table is a plain INSERT.

    key:      column or columns of the primary key.
    sequence: the column that orders the versions of a row: a lower value never overwrites a higher one, whenever it
              arrives.
    strategy: upsert, merge or delete+insert.
    Other arguments are config() of dbt or of the adapter, and override the presets. -#}
{% macro keyed_table(key, sequence=none, strategy='upsert', buckets='auto') %}
    {%- set options = {
        'materialized': 'incremental',
        'incremental_strategy': strategy,
        'primary_key': key,
        'merge_engine': 'deduplicate',
        'bucket': buckets,
        'maintenance': maintenance(),
    } -%}
    {%- if sequence is not none -%}
        {%- do options.update({'sequence_field': sequence}) -%}
    {%- endif -%}
    {%- do options.update(kwargs) -%}
    {{ config(**options) }}
{% endmacro %}
