{#- A run of a table or an incremental model. -#}
{% macro paimon__write_model() %}
  {%- set run = adapter.plans.begin(context) -%}
  {%- if run.reused -%}
    {{ return(paimon__reused(run)) }}
  {%- endif -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {%- set query = paimon__model_query(run.target, compiled_code, model['language']) -%}
  {%- set run = adapter.runs.write(context, run, query) -%}

  {{ return(paimon__ended(run)) }}
{% endmacro %}
