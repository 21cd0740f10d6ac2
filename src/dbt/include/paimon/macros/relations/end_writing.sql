{#-
  Ends the writing of a node's rows: drops what was staged for them, and the view that the node was before, and tags the
  table. Tags are for the table that a model will be, not for a branch.

  run: see adapter.plans.begin; staged: queries, whose views are dropped.
-#}
{% macro paimon__end_writing(run, staged) %}
  {%- for query in staged -%}
    {%- do paimon__drop_staged(query) -%}
  {%- endfor -%}
  {%- if run.branch is none -%}
    {%- do paimon__drop_if_view(run.existing) -%}
    {%- do paimon__tag_run(run.target, run.spec) -%}
  {%- endif -%}
  {%- do adapter.unchanged.note(model) -%}
{% endmacro %}

{#- Drops the view that the model was before, once the table is complete. -#}
{% macro paimon__drop_if_view(existing) %}
  {%- if existing is not none and existing.is_view -%}
    {%- do adapter.drop_relation(existing) -%}
  {%- endif -%}
{% endmacro %}

{#- The end of a node that has nothing to do, but for what its maintenance policy makes due; returns its relations. -#}
{% macro paimon__reused(run) %}
  {{ store_result('main', response=run.reused.response, agate_table=run.reused.table) }}
  {%- do adapter.maintenance.after_run(run.target, run.spec) -%}
  {%- do return({'relations': [run.target]}) -%}
{% endmacro %}
