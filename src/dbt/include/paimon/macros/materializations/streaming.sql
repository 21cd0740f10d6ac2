{#-
  A table written by Structured Streaming: everything since the last run, batch by batch, each exactly once.

  The checkpoint is in the table's own folder. A full refresh streams everything into a new table with its own
  checkpoint, which replaces the old one once it is complete.
-#}
{% materialization streaming, adapter='paimon', supported_languages=['sql'] %}
  {%- set target = this.incorporate(type='table') -%}
  {#- All problems of the config are reported here, before the first statement. -#}
  {%- set plan = adapter.streams.plan(model) -%}
  {%- set spec = plan.spec -%}
  {%- set strategy = plan.strategy -%}
  {%- set settings = plan.settings -%}
  {%- set on_schema_change = incremental_validate_on_schema_change(config.get('on_schema_change'), default='ignore') -%}
  {%- do adapter.streams.hold(model, target) -%}
  {%- set existing = adapter.builds.existing(target, hold=false) -%}
  {%- set goes_on = existing is not none and existing.is_table and not should_full_refresh() -%}
  {%- set before = adapter.streams.id_of(existing) if existing is not none and existing.is_table else '' -%}
  {%- if before -%}
    {%- do adapter.streams.refuse_newer(existing, settings, before) -%}
  {%- endif -%}
  {%- if goes_on -%}
    {%- do adapter.streams.resume(model, existing, before, plan, adapter.deletes.relations(target)) -%}
  {%- else -%}
    {%- set spec = adapter.streams.begin(model, spec) -%}
  {%- endif -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {%- do adapter.streams.open(model, existing if goes_on else none, settings) -%}
  {%- set dead_letters = paimon__create_dead_letters(target, settings) -%}
  {%- do paimon__drop_deletes_of_others(target, before) -%}
  {%- if goes_on -%}
    {%- do paimon__stream_into(target, spec, strategy, settings, on_schema_change, dead_letters) -%}
  {%- elif existing is none -%}
    {%- do paimon__create_streamed(target, spec, strategy) -%}
    {%- do adapter.cache_added(target) -%}
    {%- do paimon__set_late_options(target, spec) -%}
    {%- do paimon__stream_into(target, spec, strategy, settings, on_schema_change, dead_letters) -%}
  {%- else -%}
    {%- set staging = adapter.builds.staging(target) -%}
    {%- set deletes = adapter.deletes.relation(model, staging) -%}
    {%- do adapter.builds.begins(staging) -%}
    {%- do adapter.builds.begins(deletes) -%}
    {%- do paimon__create_streamed(staging, spec, strategy) -%}
    {%- do paimon__stream_into(staging, spec, strategy, settings, on_schema_change, dead_letters, drains=true) -%}
    {%- do adapter.builds.ends(staging) -%}
    {%- do adapter.builds.ends(deletes) -%}
    {%- do adapter.builds.hold(target) -%}
    {%- if existing.is_table -%}
      {%- do paimon__swap_tables(staging, target) -%}
    {%- else -%}
      {%- do adapter.cache_dropped(existing) -%}
      {%- do adapter.rename_relation(staging, target) -%}
      {%- do paimon__drop_if_view(existing) -%}
    {%- endif -%}
    {%- do paimon__set_late_options(target, spec) -%}
    {%- do adapter.builds.release() -%}
    {%- do paimon__drop_deletes_of_others(target, spec.options['dbt.stream-id']) -%}
    {%- do adapter.streams.drop_checkpoint(target, settings, before) -%}
    {%- do paimon__stream_into(target, spec, strategy, settings, on_schema_change, dead_letters) -%}
  {%- endif -%}
  {{ store_result('main', response=adapter.streams.response(model), agate_table=none) }}
  {%- do paimon__tag_run(target, spec) -%}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ adapter.commit() }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {%- do adapter.maintenance.after_run(target, spec) -%}

  {{ return({'relations': [target]}) }}
{% endmaterialization %}

{#- The empty table that a stream begins with. -#}
{% macro paimon__create_streamed(relation, spec, strategy) %}
  {%- set source = paimon__streamed_query(relation, spec, strategy) -%}
  {%- set columns = adapter.tables.wanted_columns(source.columns, model, spec) -%}
  {%- set spec = adapter.tables.check_columns(model, spec, columns, new=true) -%}
  {%- do paimon__check_documented_columns(relation, columns) -%}
  {%- do adapter.history.check_branches(model, spec) -%}
  {%- set comment = model.description if config.persist_relation_docs() else '' -%}
  {%- call statement('create_table') -%}
    {{ paimon__create_table_sql(relation, columns, spec, comment) }}
  {%- endcall -%}
{% endmacro %}

{#- The model's query over its streams, cast and checked for the table. -#}
{% macro paimon__streamed_query(relation, spec, strategy) %}
  {%- set source = paimon__model_query(relation, compiled_code, model['language']) -%}
  {%- set spec = adapter.specs.spelled(spec, source.columns) -%}
  {%- do return(adapter.streams.query(adapter.rows.ordered(source, spec, model), spec, strategy, model)) -%}
{% endmacro %}

{#- Stream into an existing table; repeated if messages turn out to have new columns. -#}
{% macro paimon__stream_into(relation, spec, strategy, settings, on_schema_change, dead_letters, drains=false) %}
  {%- set source = paimon__streamed_query(relation, spec, strategy) -%}
  {%- set writer = adapter.specs.strategy_macro(context, strategy, adapter.get_incremental_strategy_macro(context, strategy)) -%}
  {%- if writer.override -%}
    {%- do exceptions.raise_compiler_error(
      "model '" ~ model.name ~ "': the macro " ~ writer.override ~ " writes the rows of the strategy " ~ strategy
      ~ ", and a stream does not call it. Use another incremental_strategy, or materialized='incremental'."
    ) -%}
  {%- endif -%}
  {%- do adapter.builds.hold(relation) -%}
  {%- set plan = adapter.plans.increment(model, relation, spec, strategy, source) -%}
  {%- set rows = paimon__begin_increment(relation, plan, strategy, writer) -%}
  {%- do adapter.builds.release() -%}
  {{ write(rows.sql) }}
  {%- set ended = adapter.streams.run(
    model, relation, dead_letters, rows.sql, spec, strategy, settings, rows.conf, on_schema_change, drains
  ) -%}
  {%- do paimon__run_steps(relation, plan.after) -%}
  {%- if not ended -%}
    {%- do paimon__stream_into(relation, spec, strategy, settings, on_schema_change, dead_letters, drains) -%}
  {%- endif -%}
{% endmacro %}

{#-
  Drop the deletes (apply_changes) of streams that wrote a table before it was replaced, or that were killed while
  building its replacement. `stream`: the id of the stream that writes the table now; empty if none does, and the
  table's deletes do not belong to a stream.
-#}
{% macro paimon__drop_deletes_of_others(target, stream) %}
  {%- for kept in adapter.deletes.relations(target, other_than=stream) -%}
    {%- do adapter.drop_relation(kept) -%}
  {%- endfor -%}
{% endmacro %}

{#- The dead letters table, or none if every message can be parsed. -#}
{% macro paimon__create_dead_letters(target, settings) %}
  {%- set relation = paimon__dead_letters_relation(target) -%}
  {%- set sql = adapter.streams.dead_letters_sql(model, relation, settings) -%}
  {%- if not sql -%}
    {%- do return(none) -%}
  {%- endif -%}
  {%- if load_cached_relation(relation) is none -%}
    {%- call statement('create_dead_letters') -%}{{ sql }}{%- endcall -%}
    {%- do adapter.cache_added(relation) -%}
  {%- else -%}
    {%- do adapter.streams.ready_dead_letters(relation) -%}
  {%- endif -%}
  {%- do return(relation) -%}
{% endmacro %}
