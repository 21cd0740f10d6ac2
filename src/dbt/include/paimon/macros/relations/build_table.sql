{#-
  Make `target` hold exactly the rows of `source`, with the model's config, without losing anything on the way:

  - no table yet: build it under a staging name, then rename it;
  - a table whose key, partitioning and engine are unchanged: ALTER what can be altered, then one INSERT OVERWRITE. A
    query that fails leaves the old rows; table snapshots and tags stay;
  - anything else (a new primary key, partitioning, merge engine, a narrower type; also where Paimon's INSERT OVERWRITE
    depends on the rows that it replaces, see TableSpec.overwrite_reads_old_keys): build a staged table, and swap it in
    once it is complete. History that is lost with the old table has to be given up in words.

  target: relation of type table; existing: the cached relation of that name, or none; spec: adapter.specs.of;
  source: see paimon__model_query. Runs the statement 'main'.
-#}
{% macro paimon__build_table(target, existing, spec, source) %}
  {%- set columns = adapter.tables.wanted_columns(source.columns, model, spec) -%}
  {%- set new = existing is none or not existing.is_table -%}
  {%- set spec = adapter.tables.check_columns(model, spec, columns, new=new) -%}
  {%- do paimon__check_documented_columns(target, columns) -%}
  {%- set source = adapter.rows.checked(source, columns, model, spec) -%}
  {%- set comment = model.description if config.persist_relation_docs() else '' -%}
  {%- if existing is none or not existing.is_table -%}
    {%- if existing is not none -%}
      {#- A view of the same name stays until the table is complete; dbt's cache has room for only one of them. -#}
      {%- do adapter.cache_dropped(existing) -%}
    {%- endif -%}
    {%- do paimon__build_staged(target, none, columns, spec, source, comment) -%}
  {%- else -%}
    {%- set current = adapter.tables.existing(existing) -%}
    {%- set new_spec = spec -%}
    {%- set spec = adapter.buckets.settled(spec, current) -%}
    {%- set column_changes = adapter.tables.column_changes(columns, current, model) -%}
    {%- set table_changes = adapter.tables.changes(spec, current, retypes=column_changes.retype | length > 0, rewrites=true) -%}
    {%- set rebuild = adapter.tables.rebuild(spec, table_changes, column_changes) -%}
    {%- if rebuild.swaps -%}
      {%- do adapter.tables.refuse_loss(model, existing, rebuild, should_full_refresh()) -%}
      {%- do log(
        target ~ ' is rebuilt and swapped, which loses its table snapshots and tags (' ~ rebuild ~ ')', info=true
      ) -%}
      {%- do paimon__build_staged(target, existing, columns, new_spec, source, comment) -%}
    {%- else -%}
      {%- do adapter.history.check_branches(model, spec, existing) -%}
      {%- set spec = adapter.buckets.decide(spec, existing, current, source) -%}
      {%- if spec.wap -%}
        {%- set branch = adapter.audits.begin(target, with_rows=false) -%}
        {%- do paimon__rebuild_in_place(branch, current, columns, spec, source, table_changes, column_changes) -%}
        {%- do paimon__audit(target, branch, spec) -%}
        {%- set source = source.read_from(branch) -%}
      {%- endif -%}
      {%- do paimon__rebuild_in_place(target, current, columns, spec, source, table_changes, column_changes) -%}
      {%- if spec.wap -%}
        {%- do adapter.audits.end(target) -%}
      {%- endif -%}
    {%- endif -%}
  {%- endif -%}
{% endmacro %}

{#- The options, columns and rows of an existing table, or of a branch of it; the rows in one commit. -#}
{% macro paimon__rebuild_in_place(target, current, columns, spec, source, table_changes, column_changes) %}
  {%- do paimon__alter_columns_and_options(target, column_changes, table_changes) -%}
  {%- call paimon__write_table('main', target, 'rebuild', spec, paimon__overwrite_conf(by_partition=false)) -%}
    {{ paimon__overwrite_sql(target, columns, column_changes.drop, source) }}
  {%- endcall -%}
  {%- do paimon__drop_columns(target, column_changes.drop) -%}
  {%- do paimon__comment_columns(target, column_changes) -%}
  {%- do paimon__comment_table(target, current, model) -%}
{% endmacro %}

{#- Build a complete table under a staging name, then rename it, replacing `existing` (a table, or none). -#}
{% macro paimon__build_staged(target, existing, columns, spec, source, comment) %}
  {%- do adapter.history.check_branches(model, spec) -%}
  {%- set spec = adapter.buckets.chosen(spec, source) -%}
  {%- set staging = adapter.builds.staging(target) -%}
  {%- do adapter.builds.begins(staging) -%}
  {%- set create = paimon__create_table_sql(staging, columns, spec, comment) -%}
  {%- set insert = paimon__insert_sql(staging, columns, source) -%}
  {#- One script, so that the file under target/run shows the table with its rows. -#}
  {%- set sql = create ~ ';\n\n' ~ insert -%}
  {%- if adapter.changes.commit_conf(model) -%}
    {#- The commit user is set for the INSERT only: Paimon would store it as an option of a table created with it. -#}
    {%- call statement('create') -%}{{ create }}{%- endcall -%}
    {%- call paimon__write_table('main', staging, 'staging', spec) -%}{{ insert }}{%- endcall -%}
    {{ write(sql) }}
  {%- else -%}
    {{ write(sql) }}
    {%- set result = adapter.builds.create(staging, sql, spec) -%}
    {{ store_result('main', response=result.response, agate_table=result.table) }}
  {%- endif -%}
  {%- do adapter.buckets.fit(spec, staging) -%}
  {#- During a swap it may be the only complete table; after a failed audit it is kept for inspection. -#}
  {%- set kept = existing is not none or spec.wap -%}
  {%- if kept -%}
    {%- do adapter.builds.ends(staging) -%}
  {%- endif -%}
  {%- do paimon__audit(target, staging, spec) -%}
  {%- if existing is not none -%}
    {%- do paimon__swap_tables(staging, target) -%}
  {%- else -%}
    {%- do adapter.rename_relation(staging, target) -%}
  {%- endif -%}
  {%- if not kept -%}
    {%- do adapter.builds.ends(staging) -%}
  {%- endif -%}
{% endmacro %}
