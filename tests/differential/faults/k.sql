{#- NULL in a snapshot's key equals nothing. -#}
{% macro paimon__snapshot_staging_table(strategy, source_sql, target_relation) -%}
{{ dbt.paimon__snapshot_staging_table(strategy, source_sql, target_relation)
  | replace(' <=> source_data.dbt_unique_key', ' = source_data.dbt_unique_key') }}
{%- endmacro %}
