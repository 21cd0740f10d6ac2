{#-
  A table that holds exactly what the model's query gives over its sources. A run refreshes it by what changed in them
  since the last run, or as a whole where that is not possible or not cheaper (see the Python package materialized_views).
-#}
{% materialization materialized_view, adapter='paimon' %}
  {%- set run = adapter.plans.begin(context) -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {%- set run = adapter.runs.refresh(context, run) -%}

  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ adapter.commit() }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {%- do adapter.runs.end(run) -%}

  {{ return({'relations': run.relations}) }}
{% endmaterialization %}
