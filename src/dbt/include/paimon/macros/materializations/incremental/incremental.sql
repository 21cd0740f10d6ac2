{% materialization incremental, adapter='paimon', supported_languages=['sql', 'python'] %}
  {%- set target_relation = this.incorporate(type='table') -%}
  {#- All problems of the config are reported here, before the first statement. -#}
  {%- set plan = adapter.specs.incremental(model) -%}
  {%- set spec = plan.spec -%}
  {%- set strategy = plan.strategy -%}
  {%- set on_schema_change = incremental_validate_on_schema_change(config.get('on_schema_change'), default='ignore') -%}
  {%- set writer = adapter.specs.strategy_macro(context, strategy, adapter.get_incremental_strategy_macro(context, strategy)) -%}
  {#- Batches of one model are prepared concurrently, and written one after the other. -#}
  {%- set existing_relation = paimon__load_existing(target_relation, hold=(strategy != 'microbatch')) -%}
  {#- A clone that is a branch: the view over it is what exists, and stays. -#}
  {%- set clone = adapter.clones.of(model, existing_relation, full_refresh=should_full_refresh()) -%}
  {%- if clone is none and paimon__reuse(target_relation, existing_relation, spec, writer.kind) -%}
    {{ return({'relations': [target_relation]}) }}
  {%- endif -%}
  {%- do adapter.changes.check_positions(model) -%}
  {%- set rebuild = adapter.changes.rebuild(model) or should_full_refresh() -%}
  {%- set branch = paimon__branch_to_write(clone, rebuild) -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {%- set source = paimon__model_query(target_relation, compiled_code, model['language']) -%}
  {%- set spec = adapter.specs.spelled(spec, source.columns) -%}
  {%- do adapter.rows.check_event_time(model, strategy, source.columns) -%}
  {%- set source = adapter.rows.of_batch(source, strategy, model) -%}
  {%- set source = adapter.rows.ordered(source, spec, model) -%}
  {%- set staged = source -%}
  {%- if strategy == 'apply_changes' -%}
    {%- set source = paimon__stage_changes(target_relation, source, spec) -%}
  {%- endif -%}
  {%- if branch is none -%}
    {%- do paimon__keep_source_tags() -%}
  {%- endif -%}
  {%- set builds = branch is none and (existing_relation is none or existing_relation.is_view or rebuild) -%}
  {%- if not builds and ((spec.wap and branch is none) or writer.override or not adapter.rows.reads_alike(source, strategy)) -%}
    {#-
      Read once: exactly the audited rows are published, and a statement that reads its rows twice has the same. Other
      adapters of dbt have them in a temporary table, so an override may delete rows of the table before it inserts.
    -#}
    {%- set source = paimon__read_once(target_relation, source) -%}
  {%- endif -%}
  {%- if branch is not none -%}
    {%- do paimon__increment(branch, spec, strategy, writer, on_schema_change, source) -%}
    {%- do paimon__view_of_branch(target_relation, branch) -%}
  {%- elif builds -%}
    {%- if strategy == 'apply_changes' -%}
      {%- do paimon__build_from_changes(target_relation, existing_relation, spec, source) -%}
    {%- else -%}
      {%- do paimon__build_table(target_relation, existing_relation, spec, source) -%}
      {%- do paimon__set_late_options(target_relation, spec) -%}
    {%- endif -%}
    {%- do adapter.maintenance.after_first_load(target_relation, spec) -%}
  {%- elif spec.wap -%}
    {%- set branch = adapter.audits.begin(target_relation, with_rows=true) -%}
    {%- do paimon__increment(branch, spec, strategy, writer, on_schema_change, source) -%}
    {%- do paimon__audit(target_relation, branch, spec, source) -%}
    {%- do paimon__increment(target_relation, spec, strategy, writer, on_schema_change, source) -%}
    {%- do adapter.audits.end(target_relation) -%}
  {%- else -%}
    {%- do paimon__increment(target_relation, spec, strategy, writer, on_schema_change, source) -%}
  {%- endif -%}
  {%- do paimon__keep_positions(target_relation) -%}
  {%- do paimon__drop_staged(source) -%}
  {%- if staged.view != source.view -%}
    {%- do paimon__drop_staged(staged) -%}
  {%- endif -%}
  {#- Tags and maintenance are for the table that the model will be, not for a branch. -#}
  {%- if branch is none -%}
    {%- do paimon__drop_if_view(existing_relation) -%}
    {%- do paimon__tag_run(target_relation, spec) -%}
  {%- endif -%}
  {%- do adapter.unchanged.note(model) -%}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ adapter.commit() }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {%- if branch is not none -%}
    {{ return({'relations': [existing_relation]}) }}
  {%- endif -%}
  {%- do adapter.maintenance.after_run(target_relation, spec) -%}

  {{ return({'relations': [target_relation]}) }}
{% endmaterialization %}

{#- The branch that an increment goes to, or none: also if the clone has to give way to a table, which a warning says. -#}
{% macro paimon__branch_to_write(clone, rebuild) %}
  {%- if clone is none -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- set why = clone.rebuild or ('the changes since its last run are lost' if rebuild else '') -%}
  {%- if not why -%}
    {%- do return(clone.branch) -%}
  {%- endif -%}
  {%- do exceptions.warn(
    "model '" ~ model.name ~ "' is built as a table of its own, with all its rows, and not on the branch "
    ~ clone.branch ~ ', which is deleted: ' ~ why ~ '.'
  ) -%}
  {%- do return(none) -%}
{% endmacro %}

{#- One increment into an existing table: options, columns, then the strategy's one statement. -#}
{% macro paimon__increment(target, spec, strategy, writer, on_schema_change, source) %}
  {%- set increment = paimon__prepare_increment(target, spec, strategy, writer, on_schema_change, source) -%}
  {%- call paimon__write_table('main', target, writer.kind, increment.spec, increment.conf) -%}
    {{ increment.sql }}
  {%- endcall -%}
  {%- do paimon__finish_increment(target, on_schema_change, increment) -%}
{% endmacro %}

{#- The steps before an increment is written, and the statement that writes it: {sql, conf, spec, current, changes}. -#}
{% macro paimon__prepare_increment(target, spec, strategy, writer, on_schema_change, source) %}
  {%- set current = adapter.tables.existing(target) -%}
  {%- set spec = adapter.buckets.settled(spec, current) -%}
  {%- do adapter.tables.warn_of_older_types(target, current) -%}
  {%- set columns = adapter.tables.wanted_columns(source.columns, model, spec) -%}
  {%- set column_changes = adapter.tables.column_changes(columns, current, model) -%}
  {%- set syncs = on_schema_change == 'sync_all_columns' -%}
  {%- set dropped = column_changes.drop if syncs else [] -%}
  {%- set table_changes = adapter.tables.changes(spec, current, retypes=syncs and column_changes.alter | length > 0) -%}
  {%- do adapter.history.check_branches(model, spec, target) -%}
  {%- do paimon__check_documented_columns(target, columns) -%}
  {%- do adapter.tables.check_schema_change(model, on_schema_change, strategy, spec, column_changes) -%}
  {%- set table_columns = column_changes.synced(current.columns, on_schema_change) | list -%}
  {%- set spec = adapter.tables.check_columns(model, spec, table_columns, columns, dropped) -%}
  {%- do adapter.tables.refuse_immutable_changes(model, table_changes, dropped) -%}
  {%- set source = adapter.rows.checked(source, table_columns, model, spec) -%}
  {%- set kept_deletes = paimon__fitting_deletes(target, spec, table_columns) if strategy == 'apply_changes' -%}

  {#- All checks have passed. -#}
  {%- set spec = adapter.buckets.decide(spec, target, current, source) -%}
  {%- set dest_columns = paimon__sync_columns(target, on_schema_change, columns, column_changes, table_changes) -%}

  {%- set sql = writer.call({
    'target_relation': target,
    'temp_relation': paimon__strategy_source(target, writer.kind, source),
    'unique_key': config.get('unique_key') or spec.primary_key | list,
    'dest_columns': dest_columns,
    'incremental_predicates': adapter.rows.predicates(model, writer.kind, current.columns),
    'table_columns': table_columns,
    'spec': spec,
    'kept_deletes': kept_deletes,
  }) -%}
  {%- set conf = paimon__strategy_conf(strategy, spec) -%}
  {%- if writer.override -%}
    {%- set sql, more = adapter.row_deletes.prepared(sql) -%}
    {%- set conf = dict(conf, **more) -%}
  {%- endif -%}
  {%- do return({'sql': sql, 'conf': conf, 'spec': spec, 'current': current, 'changes': column_changes}) -%}
{% endmacro %}

{#- The steps after it: dropped columns, and comments. -#}
{% macro paimon__finish_increment(target, on_schema_change, increment) %}
  {%- if on_schema_change == 'sync_all_columns' -%}
    {%- do paimon__drop_columns(target, increment.changes.drop) -%}
  {%- endif -%}
  {%- do paimon__comment_columns(target, increment.changes) -%}
  {%- do paimon__comment_table(target, increment.current, model) -%}
{% endmacro %}

{#- A strategy of the project may read the columns of its temp_relation, so it gets a real relation. -#}
{% macro paimon__strategy_source(target, kind, source) %}
  {%- if kind in adapter.builtin_incremental_strategies() -%}
    {%- do return(source) -%}
  {%- endif -%}
  {%- set view = make_temp_relation(target) -%}
  {%- if source.is_relation -%}
    {%- do return(view.incorporate(path={'identifier': source.view})) -%}
  {%- endif -%}
  {%- call statement('create_temporary_view') -%}
    {{ spark__create_temporary_view(view, 'select * from ' ~ source) }}
  {%- endcall -%}
  {%- do return(view) -%}
{% endmacro %}

{#- Strategies that replace partitions need Spark's dynamic mode, for this statement only. -#}
{% macro paimon__strategy_conf(strategy, spec) %}
  {%- if strategy in ('insert_overwrite', 'microbatch') and spec.partition_by -%}
    {%- do return(paimon__overwrite_conf(by_partition=true)) -%}
  {%- endif -%}
  {%- do return({}) -%}
{% endmacro %}
