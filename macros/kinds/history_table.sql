{#- A history without a key, partitioned: a run replaces the partitions it brings and no other (insert_overwrite, or
    microbatch, which does so a batch at a time). -#}
{% macro history_table(partition_by, strategy='insert_overwrite') %}
    {%- set options = {
        'materialized': 'incremental',
        'incremental_strategy': strategy,
        'partition_by': partition_by,
    } -%}
    {%- do options.update(kwargs) -%}
    {{ config(**options) }}
{% endmacro %}
