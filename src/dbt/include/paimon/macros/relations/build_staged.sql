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
