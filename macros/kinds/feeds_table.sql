{#- A table with one row per key that several feeds fill, each its own columns (partial-update with sequence groups).

    key:   column or columns of the primary key.
    feeds: {sequence column: [columns it rules]}; a feed's columns change only together with, and in the order of,
           its sequence column, and a message without it leaves them alone. -#}
{% macro feeds_table(key, feeds, buckets='auto') %}
    {%- set fields = {} -%}
    {%- for sequence, columns in feeds.items() -%}
        {%- do fields.update({sequence: {'sequence_group': columns}}) -%}
    {%- endfor -%}
    {%- set options = {
        'materialized': 'incremental',
        'incremental_strategy': 'partial_update',
        'primary_key': key,
        'merge_engine': 'partial-update',
        'fields': fields,
        'bucket': buckets,
        'maintenance': maintenance(),
    } -%}
    {%- do options.update(kwargs) -%}
    {{ config(**options) }}
{% endmacro %}
