{#-
  A table with exactly the rows that the model's query returns. A run refreshes it incrementally from the changes of its
  sources, or fully if that is not possible or not cheaper (see the Python package plan.materialized_views).
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
