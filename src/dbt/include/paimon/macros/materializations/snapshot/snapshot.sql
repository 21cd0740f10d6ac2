{#-
  dbt's snapshot in a primary-key table. The key is dbt_scd_id unless the config sets one, so that a run's MERGE writes
  only changed versions. The first run creates the table under a staging name. From the second run on, the query's columns
  get the table's spelling, because dbt's macros compare names case-sensitively.
-#}
{% materialization snapshot, adapter='paimon' %}
  {%- set run = adapter.plans.begin(context) -%}
  {%- if run.reused -%}
    {{ return(paimon__reused(run)) }}
  {%- endif -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {%- set query = paimon__model_query(run.target, model['compiled_code']) -%}
  {%- set run = adapter.runs.snapshot(context, run, query) -%}

  {{ return(paimon__ended(run)) }}
{% endmaterialization %}
