{#- A version has the dbt_scd_id of its key and updated_at, even if another version of the key has it. -#}
{% macro paimon__snapshot_staging_table(strategy, source_sql, target_relation) -%}
{{ dbt.paimon__snapshot_staging_table(strategy, source_sql, target_relation)
  | replace(' then source_data.__dbt_scd_id', ' or true then source_data.__dbt_scd_id') }}
{%- endmacro %}
