{#-
  dbt's snapshot over a primary-key table: the key is dbt_scd_id unless the config sets one, so that a run's MERGE
  writes only the versions that changed. The first run is staged like a table's. dbt's macros compare names case-
  sensitively: from the second run on, the query's columns are spelled as the table's.
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

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ adapter.commit() }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {%- do adapter.runs.end(run) -%}

  {{ return({'relations': run.relations}) }}
{% endmaterialization %}
