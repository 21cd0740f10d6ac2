{#-
  dbt's snapshot over a primary-key table: the key is dbt_scd_id unless the config sets one, so that a run's MERGE
  writes only the versions that changed. The first run is staged like a table's. dbt's macros compare names case-
  sensitively: from the second run on, the query's columns are spelled as the table's.
-#}
{% materialization snapshot, adapter='paimon' %}
  {%- set columns = config.get('snapshot_table_column_names') or get_snapshot_table_column_names() -%}
  {%- set target_relation = this.incorporate(type='table') -%}
  {%- do paimon__require_snapshot_key() -%}
  {%- set spec = adapter.specs.of(model, [columns.dbt_scd_id]) -%}
  {%- set existing_relation = paimon__load_existing(target_relation) -%}
  {%- if existing_relation is not none and not existing_relation.is_table -%}
    {%- do exceptions.relation_wrong_type(existing_relation, 'table') -%}
  {%- endif -%}
  {%- if paimon__reuse(target_relation, existing_relation, spec) -%}
    {{ return({'relations': [target_relation]}) }}
  {%- endif -%}
  {%- set exists = existing_relation is not none -%}

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
    {%- set spec = adapter.specs.spelled(spec, versions.columns) -%}
    {%- set source = adapter.rows.ordered(versions, spec, model) -%}
    {%- do paimon__build_table(target_relation, none, spec, source) -%}
    {%- do paimon__set_late_options(target_relation, spec) -%}
  {%- else -%}
    {%- do adapter.rows.require_meta_columns(current, columns, strategy.hard_deletes) -%}
    {%- do strategy.update(
      row_changed=adapter.rows.comparing_maps(strategy.row_changed, current), table=current, query_columns=query.columns
    ) -%}
    {%- set source = adapter.rows.query(snapshot_staging_table(strategy, node.compiled_code, target_relation)) -%}
    {%- set source = adapter.rows.timed_by_versions(adapter.rows.spelled(source, current), versions, model) -%}
    {%- set spec = adapter.specs.spelled(spec, source.columns) -%}
    {%- set spec = adapter.buckets.settled(spec, current) -%}
    {%- do adapter.tables.warn_of_older_types(target_relation, current) -%}
    {%- set source = adapter.rows.ordered(source, spec, model) -%}
    {%- set helpers = ['dbt_change_type', 'dbt_unique_key'] -%}
    {%- if strategy.unique_key | is_list -%}
      {%- for key in strategy.unique_key -%}{%- do helpers.append('dbt_unique_key_' ~ loop.index) -%}{%- endfor -%}
    {%- endif -%}
    {%- set added = current.lacks(source.columns) | rejectattr('name', 'in', helpers) | list -%}
    {%- set wanted = adapter.tables.wanted_columns(adapter.rows.spelled(versions, current).columns, model, spec) -%}
    {%- set changes = adapter.tables.column_changes(wanted, current, model) -%}
    {%- do paimon__check_documented_columns(target_relation, wanted) -%}
    {%- set table_changes = adapter.tables.changes(spec, current, retypes=changes.wider | length > 0) -%}
    {%- do adapter.tables.refuse_immutable_changes(model, table_changes) -%}
    {%- do adapter.history.check_branches(model, spec, target_relation) -%}
    {%- set added_columns = adapter.tables.wanted_columns(added, model, spec) | list -%}
    {%- set table_columns = (changes.widened(current.columns) | list) + added_columns -%}
    {%- set spec = adapter.tables.check_columns(model, spec, table_columns, source.columns) -%}
    {#- For a version that ends, only its end is written. -#}
    {%- set source = adapter.rows.checked(source, table_columns, model, spec, "dbt_change_type = 'insert'") -%}
    {%- set spec = adapter.buckets.decide(spec, target_relation, current, source) -%}
    {%- do create_columns(target_relation, added) -%}
    {%- do paimon__alter_options(target_relation, table_changes) -%}
    {%- for column in changes.wider -%}
      {%- do paimon__alter_column_type(target_relation, column.name, column.data_type) -%}
    {%- endfor -%}
    {%- set written = source.columns | rejectattr('name', 'in', helpers) | list -%}
    {%- set kind = 'snapshot override' if adapter.specs.override_of(context, 'snapshot_merge_sql') else 'snapshot' -%}
    {%- call paimon__write_table('main', target_relation, kind, spec) -%}
      {{ snapshot_merge_sql(target_relation, source, paimon__quoted_names(written)) }}
    {%- endcall -%}
    {%- do paimon__comment_columns(target_relation, changes) -%}
    {%- do paimon__comment_table(target_relation, current, model) -%}
  {%- endif -%}
  {%- do paimon__drop_staged(source) -%}
  {%- do paimon__tag_run(target_relation, spec) -%}
  {%- do adapter.unchanged.note(model) -%}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ adapter.commit() }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {%- do adapter.maintenance.after_run(target_relation, spec) -%}

  {{ return({'relations': [target_relation]}) }}
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
