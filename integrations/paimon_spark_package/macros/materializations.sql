{#- A table: each run replaces all rows in one commit. Table snapshots and tags stay. -#}
{% materialization paimon_table, adapter='spark' %}
  {{ return(paimon_spark.paimon_write(increment=false)) }}
{% endmaterialization %}

{#- An incremental table: each run writes by `incremental_strategy` (append, upsert, partial_update, insert_overwrite). -#}
{% materialization paimon_incremental, adapter='spark' %}
  {{ return(paimon_spark.paimon_write(increment=not should_full_refresh())) }}
{% endmaterialization %}

{#- Like dbt's is_incremental(), which is false for every materialization but `incremental`. -#}
{% macro is_paimon_incremental() %}
  {%- if not execute or config.get('materialized') != 'paimon_incremental' or should_full_refresh() -%}
    {%- do return(false) -%}
  {%- elif not run_query("show schemas like '" ~ this.schema ~ "'").rows -%}
    {%- do return(false) -%}
  {%- endif -%}
  {#- If a run was killed between the two renames, only the `__dbt_old` table exists. paimon_restore renames it back. -#}
  {%- set found = paimon_spark.paimon_existing([this, paimon_spark.paimon_with_suffix(this, '__dbt_old')]) -%}
  {%- do return(found | length > 0) -%}
{% endmacro %}

{#- Run one model. increment: if the table exists, add rows instead of replacing all of them. -#}
{% macro paimon_write(increment) %}
  {%- set wanted = paimon_spark.paimon_settings() -%}
  {%- do paimon_spark.paimon_check_session(wanted) -%}
  {%- set exists = paimon_spark.paimon_restore(this) -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {#- One session may serve several threads, so the view's name contains the schema. -#}
  {%- set source = this.schema ~ '__' ~ this.identifier ~ '__dbt_tmp' -%}
  {%- do paimon_spark.paimon_execute('create or replace temporary view ' ~ adapter.quote(source) ~ ' as\n' ~ sql) -%}
  {%- set columns = paimon_spark.paimon_described(adapter.quote(source)).columns -%}
  {%- set plan = paimon_spark.paimon_plan(columns, wanted, exists, increment) -%}

  {%- if plan.rebuild -%}
    {%- do paimon_spark.paimon_rebuild(columns, wanted, exists, adapter.quote(source)) -%}
  {%- else -%}
    {%- do paimon_spark.paimon_alter(plan) -%}
    {%- call statement('main') -%}
      {{ paimon_spark.paimon_insert_sql(this, plan, adapter.quote(source)) }}
    {%- endcall -%}
  {%- endif -%}
  {%- do paimon_spark.paimon_execute('drop view if exists ' ~ adapter.quote(source)) -%}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {{ return({'relations': [this.incorporate(type='table')]}) }}
{% endmacro %}
