{% materialization table, adapter='paimon', supported_languages=['sql', 'python'] %}
  {%- set run = adapter.plans.begin(context) -%}
  {%- if run.reused -%}
    {{ return(paimon__reused(run)) }}
  {%- endif -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {%- set query = paimon__model_query(run.target, compiled_code, model['language']) -%}
  {%- set run = adapter.plans.with_rows(model, run, query) -%}
  {%- do paimon__build_table(run.target, run.existing, run.spec, run.source) -%}
  {%- do paimon__end_writing(run, [run.source]) -%}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ adapter.commit() }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {%- do adapter.maintenance.after_run(run.target, run.spec) -%}

  {{ return({'relations': [run.target]}) }}
{% endmaterialization %}
