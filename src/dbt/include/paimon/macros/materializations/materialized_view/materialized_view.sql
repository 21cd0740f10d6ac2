{#-
  A table with exactly the rows that the model's query returns. A run refreshes it incrementally from the changes of its
  sources, or fully if that is not possible or not cheaper (see the Python package plan.materialized_views).
-#}
{% materialization materialized_view, adapter='paimon' %}
  {%- set run = adapter.plans.begin(context) -%}

  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}

  {%- set run = adapter.runs.refresh(context, run) -%}

  {{ return(paimon__ended(run)) }}
{% endmaterialization %}
