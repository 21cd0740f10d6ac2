{#- End a node whose rows are written, and return its relations. -#}
{% macro paimon__ended(run) %}
  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {%- do adapter.runs.end(run) -%}
  {%- do return({'relations': run.relations}) -%}
{% endmacro %}

{#- End a skipped node, whose maintenance still runs, and return its relations. -#}
{% macro paimon__reused(run) %}
  {{ store_result('main', response=run.reused.response, agate_table=run.reused.table) }}
  {%- do adapter.runs.end(run) -%}
  {%- do return({'relations': run.relations}) -%}
{% endmacro %}
