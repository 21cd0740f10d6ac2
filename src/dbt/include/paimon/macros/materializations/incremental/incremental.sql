{% materialization incremental, adapter='paimon', supported_languages=['sql', 'python'] %}
  {%- set run = adapter.plans.begin(context) -%}
  {%- if run.reused -%}
    {{ return(paimon__reused(run)) }}
  {%- endif -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {%- set query = paimon__model_query(run.target, compiled_code, model['language']) -%}
  {%- set run = adapter.plans.with_rows(model, run, query) -%}
  {%- set staged = [run.source] -%}
  {%- if run.strategy == 'apply_changes' -%}
    {%- do staged.append(paimon__stage_changes(run.target, run.source, run.spec)) -%}
  {%- endif -%}
  {%- if run.branch is none -%}
    {%- do adapter.changes.keep_tags(model) -%}
  {%- endif -%}
  {%- if adapter.plans.reads_once(run, staged[-1]) -%}
    {%- do staged.append(paimon__read_once(run.target, staged[-1])) -%}
  {%- endif -%}
  {%- do paimon__write_increment(run, staged[-1]) -%}
  {%- do paimon__keep_positions(run.target) -%}
  {%- do paimon__end_writing(run, staged) -%}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ adapter.commit() }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {%- if run.branch is not none -%}
    {{ return({'relations': [run.existing]}) }}
  {%- endif -%}
  {%- do adapter.maintenance.after_run(run.target, run.spec) -%}

  {{ return({'relations': [run.target]}) }}
{% endmaterialization %}

{#- Writes a model's rows: all of them, or an increment into its table or branch, audited first if the config says so. -#}
{% macro paimon__write_increment(run, source) %}
  {%- if run.branch is not none -%}
    {%- do paimon__increment(run.branch, run, source) -%}
    {%- do paimon__view_of_branch(run.target, run.branch) -%}
  {%- elif not run.adds -%}
    {%- if run.strategy == 'apply_changes' -%}
      {%- do paimon__build_from_changes(run.target, run.existing, run.spec, source) -%}
    {%- else -%}
      {%- do paimon__build_table(run.target, run.existing, run.spec, source) -%}
    {%- endif -%}
    {%- do adapter.maintenance.after_first_load(run.target, run.spec) -%}
  {%- elif run.spec.wap -%}
    {%- set audited = adapter.audits.begin(run.target, with_rows=true) -%}
    {%- do paimon__increment(audited, run, source) -%}
    {%- do paimon__audit(run.target, audited, run.spec, source) -%}
    {%- do paimon__increment(run.target, run, source) -%}
    {%- do adapter.audits.end(run.target) -%}
  {%- else -%}
    {%- do paimon__increment(run.target, run, source) -%}
  {%- endif -%}
{% endmacro %}

{#- One increment into an existing table, as its plan says: what is altered first, the strategy's one statement, the rest. -#}
{% macro paimon__increment(target, run, source) %}
  {%- set plan = adapter.plans.increment(model, target, run.spec, run.strategy, source) -%}
  {%- set rows = paimon__begin_increment(target, plan, run.strategy, run.writer) -%}
  {%- call paimon__write_table('main', target, run.writer.kind, plan.spec, rows.conf) -%}
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
