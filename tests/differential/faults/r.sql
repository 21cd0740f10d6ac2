{#- A version's dbt_scd_id depends only on its key and updated_at, even if an earlier version already has that ID. -#}
{% macro paimon__snapshot_staging_table(strategy, source_sql, target_relation) -%}
{{ dbt.paimon__snapshot_staging_table(strategy, source_sql, target_relation)
  | replace(' then source_data.__dbt_scd_id', ' or true then source_data.__dbt_scd_id') }}
{%- endmacro %}
