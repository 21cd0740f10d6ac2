{#- Publish the rows of a model whose audit failed, unchanged. -#}
{% macro publish(relation) %}
  {%- set target = paimon__named_relation(relation) -%}
  {%- set existing = adapter.get_relation(target.database, target.schema, target.identifier) -%}
  {%- set staged = adapter.builds.staged(target) -%}
  {%- set branch = adapter.audits.branch(existing) if existing is not none and existing.is_table -%}
  {%- if branch -%}
    {%- do adapter.audits.refuse_stale(existing) -%}
  {%- elif staged is none or (existing is not none and not existing.is_table) -%}
    {%- do exceptions.raise_compiler_error('publish: ' ~ target ~ ' has no rows whose audit failed.') -%}
  {%- endif -%}
  {%- do adapter.builds.hold(target) -%}
  {%- if branch -%}
    {%- set sql = paimon__overwrite_sql(existing, adapter.get_columns_in_relation(branch), [], branch) -%}
    {%- set spec = adapter.tables.existing(existing).as_spec() -%}
    {%- set written = adapter.builds.write(existing, sql, 'rebuild', spec, paimon__overwrite_conf(by_partition=false)) -%}
    {%- do adapter.audits.end(existing) -%}
  {%- elif existing is none -%}
    {%- do adapter.rename_relation(staged, target) -%}
  {%- else -%}
    {%- do paimon__swap_tables(staged, existing) -%}
  {%- endif -%}
  {%- do adapter.builds.release() -%}
  {%- do log(target.shown ~ ' PUBLISH' ~ (' by ' ~ written.response if written), info=true) -%}
{% endmacro %}
