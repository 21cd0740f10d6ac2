{#-
  A table that holds exactly what the model's query gives over its sources. A run refreshes it by what changed in them
  since the last run, or as a whole where that is not possible or not cheaper (see the Python package materialized_views).
-#}
{% materialization materialized_view, adapter='paimon' %}
  {%- set run = adapter.plans.begin(context) -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {%- set kept = paimon__positions_relation(run.target) -%}
  {%- set refresh = adapter.materialized_views.refresh(model, run, kept) -%}
  {%- if refresh.is_incremental -%}
    {%- do paimon__stage_refresh(refresh) -%}
    {%- set refresh = adapter.materialized_views.counted(refresh) -%}
  {%- endif -%}
  {%- if refresh.is_full -%}
    {%- do paimon__refresh_all(run, refresh) -%}
  {%- elif refresh.is_incremental and refresh.affected -%}
    {%- do paimon__refresh_changed(run, refresh) -%}
  {%- else -%}
    {%- do paimon__run_steps(run.target, run.pending) -%}
    {%- set nothing = adapter.materialized_views.nothing_written(model, refresh, run.target) -%}
    {{ store_result('main', response=nothing.response, agate_table=nothing.table) }}
  {%- endif -%}
  {%- for name in refresh.views -%}
    {%- do paimon__drop_temporary_view(name) -%}
  {%- endfor -%}
  {%- do adapter.materialized_views.end(model, refresh, kept) -%}
  {%- do paimon__end_writing(run, []) -%}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ adapter.commit() }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {%- do adapter.maintenance.after_run(run.target, run.spec) -%}

  {{ return({'relations': [run.target]}) }}
{% endmaterialization %}

{#- All rows of the query, over its sources as they are pinned. -#}
{% macro paimon__refresh_all(run, refresh) %}
  {%- set query = paimon__model_query(run.target, refresh.sql) -%}
  {%- set run = adapter.plans.with_rows(model, run, query) -%}
  {%- do paimon__build_table(run.target, run.existing, run.spec, run.source) -%}
  {%- do adapter.materialized_views.describe(model, refresh, run.target, load_result('main')) -%}
{% endmacro %}

{#- The rows whose sources have changed, in one commit; audited first if the config says so. -#}
{% macro paimon__refresh_changed(run, refresh) %}
  {%- set query = paimon__model_query(run.target, paimon__refreshed_rows_sql(refresh)) -%}
  {%- set run = adapter.plans.with_rows(model, run, query) -%}
  {%- if run.spec.wap -%}
    {%- set audited = adapter.audits.begin(run.target, with_rows=true) -%}
    {%- do paimon__write_refresh(audited, run, refresh) -%}
    {%- do paimon__audit(run.target, audited, run.spec, run.source) -%}
    {%- do paimon__write_refresh(run.target, run, refresh) -%}
    {%- do adapter.audits.end(run.target) -%}
  {%- else -%}
    {%- do paimon__write_refresh(run.target, run, refresh) -%}
  {%- endif -%}
  {%- do adapter.materialized_views.describe(model, refresh, run.target, load_result('main')) -%}
  {%- if refresh.rows_view -%}
    {%- do paimon__drop_temporary_view(refresh.rows_view) -%}
  {%- endif -%}
{% endmacro %}

{% macro paimon__write_refresh(target, run, refresh) %}
  {%- set plan = adapter.plans.increment(model, target, run.spec, 'refresh', run.source) -%}
  {%- do paimon__run_steps(target, plan.before) -%}
  {%- if refresh.replaces -%}
    {%- call paimon__write_table('main', target, 'rebuild', plan.spec, paimon__overwrite_conf(by_partition=false)) -%}
      {{ paimon__replaced_groups_sql(target, refresh, plan) }}
    {%- endcall -%}
  {%- else -%}
    {%- set deletes = paimon__refresh_deletes_sql(refresh) -%}
    {%- set way = adapter.materialized_views.way(refresh, deletes, target) -%}
    {%- call paimon__write_table('main', target, 'refresh', plan.spec, writes_rows=(way == 'rows')) -%}
      {%- if way == 'insert' -%}
        {{ paimon__insert_sql(target, plan.written, plan.source) }}
      {%- elif way == 'rows' -%}
        {{ paimon__refresh_rows_sql(refresh, plan, deletes) }}
      {%- else -%}
        {{ paimon__refresh_merge_sql(target, refresh, plan, deletes) }}
      {%- endif -%}
    {%- endcall -%}
  {%- endif -%}
  {%- do paimon__run_steps(target, plan.after) -%}
{% endmacro %}
