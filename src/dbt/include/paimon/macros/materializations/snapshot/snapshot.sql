{#-
  dbt's snapshot over a primary-key table: the key is dbt_scd_id unless the config sets one, so that a run's MERGE
  writes only the versions that changed. The first run is staged like a table's. dbt's macros compare names case-
  sensitively: from the second run on, the query's columns are spelled as the table's.
-#}
{% materialization snapshot, adapter='paimon' %}
  {%- set columns = config.get('snapshot_table_column_names') or get_snapshot_table_column_names() -%}
  {%- do paimon__require_snapshot_key() -%}
  {%- set run = adapter.plans.begin(context) -%}
  {%- if run.existing is not none and not run.existing.is_table -%}
    {%- do exceptions.relation_wrong_type(run.existing, 'table') -%}
  {%- endif -%}
  {%- if run.reused -%}
    {{ return(paimon__reused(run)) }}
  {%- endif -%}
  {%- set target_relation, exists = run.target, run.existing is not none -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {%- set query = paimon__model_query(target_relation, model['compiled_code']) -%}
  {%- do paimon__require_check_cols(query.columns) -%}
  {%- set warning = adapter.rows.check_snapshot_keys(query, model) -%}
  {%- if warning -%}
    {%- do exceptions.warn(warning) -%}
  {%- endif -%}
  {%- set current = adapter.tables.existing(target_relation) if exists -%}
  {%- if exists -%}
    {%- set query = adapter.rows.with_fields_of_table(adapter.rows.spelled(query, current), current) -%}
  {%- endif -%}
  {%- set node = dict(model, compiled_code='select * from ' ~ query) -%}
  {%- set strategy = strategy_dispatch(config.get('strategy'))(node, 'snapshotted_data', 'source_data', model['config'], exists) -%}
  {%- set versions_sql = build_snapshot_table(strategy, node.compiled_code) -%}
  {{ check_time_data_types(versions_sql) }}
  {%- set versions = adapter.rows.with_time_of_end(adapter.rows.query(versions_sql), model, current) -%}

  {%- if not exists -%}
    {%- set run = adapter.plans.with_rows(model, run, versions) -%}
    {%- do paimon__build_table(target_relation, none, run.spec, run.source) -%}
  {%- else -%}
    {%- do adapter.rows.require_meta_columns(current, columns, strategy.hard_deletes) -%}
    {%- do strategy.update(
      row_changed=adapter.rows.comparing_maps(strategy.row_changed, current), table=current, query_columns=query.columns
    ) -%}
    {%- set source = adapter.rows.query(snapshot_staging_table(strategy, node.compiled_code, target_relation)) -%}
    {%- set source = adapter.rows.timed_by_versions(adapter.rows.spelled(source, current), versions, model) -%}
    {%- set run = adapter.plans.with_rows(model, run, source) -%}
    {%- set helpers = ['dbt_change_type', 'dbt_unique_key'] -%}
    {%- if strategy.unique_key | is_list -%}
      {%- for key in strategy.unique_key -%}{%- do helpers.append('dbt_unique_key_' ~ loop.index) -%}{%- endfor -%}
    {%- endif -%}
    {%- set plan = adapter.plans.snapshot(model, run, current, versions, helpers) -%}
    {%- do paimon__check_documented_columns(target_relation, plan.columns) -%}
    {%- do paimon__run_steps(target_relation, plan.before) -%}
    {%- set kind = 'snapshot override' if adapter.specs.override_of(context, 'snapshot_merge_sql') else 'snapshot' -%}
    {%- call paimon__write_table('main', target_relation, kind, plan.spec) -%}
      {{ snapshot_merge_sql(target_relation, plan.source, paimon__quoted_names(plan.written)) }}
    {%- endcall -%}
    {%- do paimon__run_steps(target_relation, plan.after) -%}
  {%- endif -%}
  {%- do paimon__end_writing(run, []) -%}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ adapter.commit() }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {%- do adapter.maintenance.after_run(run.target, run.spec) -%}

  {{ return({'relations': [run.target]}) }}
{% endmaterialization %}

{% macro paimon__require_snapshot_key() %}
  {%- if not config.get('unique_key') -%}
    {%- do exceptions.raise_compiler_error(
      "snapshot '" ~ model.name ~ "': unique_key is missing. Name the column or columns that identify a row of the query."
    ) -%}
  {%- endif -%}
{% endmacro %}

{#- dbt leaves out a name that the query lacks, and then changes of that column create no version. -#}
{% macro paimon__require_check_cols(columns) %}
  {%- set check_cols = config.get('check_cols') or [] -%}
  {%- set known = columns | map(attribute='name') | map('lower') | list -%}
  {%- for column in check_cols if check_cols is not string and column | lower not in known -%}
    {%- do exceptions.raise_compiler_error(
      "snapshot '" ~ model.name ~ "': check_cols: '" ~ column ~ "' is not a column of its query (" ~
      columns | map(attribute='name') | join(', ') ~ ').'
    ) -%}
  {%- endfor -%}
{% endmacro %}
