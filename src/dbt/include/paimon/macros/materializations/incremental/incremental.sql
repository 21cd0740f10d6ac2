{% materialization incremental, adapter='paimon', supported_languages=['sql', 'python'] %}
  {%- set target_relation = this.incorporate(type='table') -%}
  {#- All problems of the config are reported here, before the first statement. -#}
  {%- set plan = adapter.specs.incremental(model) -%}
  {%- set spec = plan.spec -%}
  {%- set strategy = plan.strategy -%}
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
    {%- do paimon__increment(branch, spec, strategy, writer, source) -%}
    {%- do paimon__view_of_branch(target_relation, branch) -%}
  {%- elif builds -%}
    {%- if strategy == 'apply_changes' -%}
      {%- do paimon__build_from_changes(target_relation, existing_relation, spec, source) -%}
    {%- else -%}
      {%- do paimon__build_table(target_relation, existing_relation, spec, source) -%}
    {%- endif -%}
    {%- do adapter.maintenance.after_first_load(target_relation, spec) -%}
  {%- elif spec.wap -%}
    {%- set audited = adapter.audits.begin(target_relation, with_rows=true) -%}
    {%- do paimon__increment(audited, spec, strategy, writer, source) -%}
    {%- do paimon__audit(target_relation, audited, spec, source) -%}
    {%- do paimon__increment(target_relation, spec, strategy, writer, source) -%}
    {%- do adapter.audits.end(target_relation) -%}
  {%- else -%}
    {%- do paimon__increment(target_relation, spec, strategy, writer, source) -%}
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

{#- One increment into an existing table, as its plan says: what is altered first, the strategy's one statement, the rest. -#}
{% macro paimon__increment(target, spec, strategy, writer, source) %}
  {%- set plan = adapter.plans.increment(model, target, spec, strategy, source) -%}
  {%- set rows = paimon__begin_increment(target, plan, strategy, writer) -%}
  {%- call paimon__write_table('main', target, writer.kind, plan.spec, rows.conf) -%}
    {{ rows.sql }}
  {%- endcall -%}
  {%- do paimon__run_steps(target, plan.after) -%}
{% endmacro %}

{#- Alters the table as the plan says, and renders the statement that writes its rows: {sql, conf}. -#}
{% macro paimon__begin_increment(target, plan, strategy, writer) %}
  {%- do paimon__check_documented_columns(target, plan.columns) -%}
  {%- do paimon__run_steps(target, plan.before) -%}
  {%- set sql = writer.call({
    'target_relation': target,
    'temp_relation': paimon__strategy_source(target, writer.kind, plan.source),
    'unique_key': config.get('unique_key') or plan.spec.primary_key | list,
    'dest_columns': plan.written | list,
    'incremental_predicates': adapter.rows.predicates(model, writer.kind, plan.current.columns),
    'table_columns': plan.table_columns | list,
    'spec': plan.spec,
    'kept_deletes': plan.kept_deletes,
  }) -%}
  {%- set conf = paimon__strategy_conf(strategy, plan.spec) -%}
  {%- if writer.override -%}
    {%- set sql, more = adapter.row_deletes.prepared(sql) -%}
    {%- set conf = dict(conf, **more) -%}
  {%- endif -%}
  {%- do return({'sql': sql, 'conf': conf}) -%}
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
