{% materialization seed, adapter='paimon' %}
  {%- set run = adapter.plans.begin(context) -%}
  {%- if run.existing is not none and run.existing.is_view -%}
    {{ exceptions.raise_compiler_error("Cannot seed to '" ~ run.existing ~ "', it is a view") }}
  {%- endif -%}
  {%- do store_result('agate_table', response='OK', agate_table=run.rows) -%}
  {%- if run.reused -%}
    {{ return(paimon__reused(run)) }}
  {%- endif -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {%- set view = make_temp_relation(run.target).identifier -%}
  {%- do adapter.rows.stage_seed(view, run.rows, model) -%}
  {%- set run = adapter.plans.with_rows(model, run, adapter.rows.staged(view)) -%}
  {%- do paimon__build_table(run.target, run.existing, run.spec, run.source) -%}
  {%- do paimon__end_writing(run, [run.source]) -%}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ adapter.commit() }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {%- do adapter.maintenance.after_run(run.target, run.spec) -%}

  {{ return({'relations': [run.target]}) }}
{% endmaterialization %}
