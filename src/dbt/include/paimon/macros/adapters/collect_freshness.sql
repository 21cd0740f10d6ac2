{#- Like dbt's own, but both times are in UTC, which dbt expects. A TIMESTAMP_NTZ counts as UTC. -#}
{% macro paimon__collect_freshness(source, loaded_at_field, filter) %}
  {%- call statement('collect_freshness', fetch_result=True, auto_begin=False) -%}
    select
      {{ adapter.tables.loaded_at_sql('max_loaded_at') }} as max_loaded_at,
      {{ adapter.tables.loaded_at_sql(current_timestamp()) }} as snapshotted_at
    from (
      select max({{ loaded_at_field }}) as max_loaded_at
      from {{ source }}
      {% if filter %}
        where {{ filter }}
      {% endif %}
    )
  {%- endcall -%}
  {{ return(load_result('collect_freshness')) }}
{% endmacro %}


{% macro paimon__collect_freshness_custom_sql(source, loaded_at_query) %}
  {%- call statement('collect_freshness_custom_sql', fetch_result=True, auto_begin=False) -%}
    with
      source_query as (
        {{ loaded_at_query }}
      )
    select
      {{ adapter.tables.loaded_at_sql('max_loaded_at') }} as max_loaded_at,
      {{ adapter.tables.loaded_at_sql(current_timestamp()) }} as snapshotted_at
    from (select (select * from source_query) as max_loaded_at)
  {%- endcall -%}
  {{ return(load_result('collect_freshness_custom_sql')) }}
{% endmacro %}
