{#- A table of running totals: an arriving row is added to the row of its key (aggregation).

    key:  column or columns of the primary key.
    sum:  columns that add up.
    max:  columns that keep the greatest value.
    Each row must arrive once: the model reads changes (`paimon_changes`) or leaves out rows that the table already
    holds (`newly_known`). -#}
{% macro totals_table(key, sum=[], max=[], buckets='auto') %}
    {%- set fields = {} -%}
    {%- for column in sum -%}
        {%- do fields.update({column: {'aggregate_function': 'sum'}}) -%}
    {%- endfor -%}
    {%- for column in max -%}
        {%- do fields.update({column: {'aggregate_function': 'max'}}) -%}
    {%- endfor -%}
    {%- set options = {
        'materialized': 'incremental',
        'incremental_strategy': 'upsert',
        'primary_key': key,
        'merge_engine': 'aggregation',
        'fields': fields,
        'bucket': buckets,
        'maintenance': maintenance(),
    } -%}
    {%- do options.update(kwargs) -%}
    {{ config(**options) }}
{% endmacro %}
