{#- A history without a key, partitioned: a run replaces only the partitions of its rows (insert_overwrite). -#}
{% macro history_table(partition_by) %}
    {%- set options = {
        'materialized': 'incremental',
        'incremental_strategy': 'insert_overwrite',
        'partition_by': partition_by,
        'on_schema_change': 'append_new_columns',
    } -%}
    {%- do options.update(kwargs) -%}
    {{ config(**options) }}
{% endmacro %}
