{% materialization seed, adapter='paimon' %}
  {%- set run = adapter.plans.begin(context) -%}
  {%- do store_result('agate_table', response='OK', agate_table=run.rows) -%}
  {%- if run.reused -%}
    {{ return(paimon__reused(run)) }}
  {%- endif -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {%- set query = adapter.rows.of_seed(make_temp_relation(run.target).identifier, run.rows, model) -%}
  {%- set run = adapter.runs.write(context, run, query) -%}

  {{ return(paimon__ended(run)) }}
{% endmaterialization %}
