{#- A history without a key, partitioned: a run replaces only the partitions of its rows (insert_overwrite, or
    microbatch, which does so batch by batch). -#}
{% macro history_table(partition_by, strategy='insert_overwrite') %}
    {%- set options = {
        'materialized': 'incremental',
        'incremental_strategy': strategy,
        'partition_by': partition_by,
    } -%}
    {%- do options.update(kwargs) -%}
    {{ config(**options) }}
{% endmacro %}
