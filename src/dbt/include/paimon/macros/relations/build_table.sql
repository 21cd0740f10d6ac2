{#-
  Make `target` hold exactly the rows of `source`, with the model's config, as the plan says (see adapter.plans.build).
  Nothing is lost on the way.

  target: relation of type table; existing: the cached relation of that name, or none; spec: adapter.specs.of;
  source: see paimon__model_query. Runs the statement 'main'.
-#}
{% macro paimon__build_table(target, existing, spec, source) %}
  {%- set plan = adapter.plans.build(model, existing, spec, source, should_full_refresh()) -%}
  {%- do paimon__check_documented_columns(target, plan.columns) -%}
  {%- if plan.stages -%}
    {%- if existing is not none and existing.is_view -%}
      {#- It stays until the table is complete; dbt's cache has room for only one of them. -#}
      {%- do adapter.cache_dropped(existing) -%}
    {%- endif -%}
    {%- set replaced = existing if existing is not none and existing.is_table else none -%}
    {%- set comment = model.description if config.persist_relation_docs() else '' -%}
    {%- do paimon__build_staged(target, replaced, plan.columns, plan.spec, plan.source, comment) -%}
  {%- elif plan.spec.wap -%}
    {%- set branch = adapter.audits.begin(target, with_rows=false) -%}
    {%- do paimon__rebuild_in_place(branch, plan, plan.source) -%}
    {%- do paimon__audit(target, branch, plan.spec) -%}
    {%- do paimon__rebuild_in_place(target, plan, plan.source.read_from(branch)) -%}
    {%- do adapter.audits.end(target) -%}
  {%- else -%}
    {%- do paimon__rebuild_in_place(target, plan, plan.source) -%}
  {%- endif -%}
  {%- do paimon__set_late_options(target, spec) -%}
{% endmacro %}

{#- The options, columns and rows of an existing table, or of a branch of it; the rows in one commit. -#}
{% macro paimon__rebuild_in_place(target, plan, source) %}
  {%- do paimon__run_steps(target, plan.before) -%}
  {%- call paimon__write_table('main', target, 'rebuild', plan.spec, paimon__overwrite_conf(by_partition=false)) -%}
    {{ paimon__overwrite_sql(target, plan.columns, plan.dropped, source) }}
  {%- endcall -%}
  {%- do paimon__run_steps(target, plan.after) -%}
{% endmacro %}
