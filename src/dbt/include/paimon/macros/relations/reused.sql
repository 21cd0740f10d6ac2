{#- The end of a node that has nothing to do, but for what its maintenance policy makes due; returns its relations. -#}
{% macro paimon__reused(run) %}
  {{ store_result('main', response=run.reused.response, agate_table=run.reused.table) }}
  {%- do adapter.runs.end(run) -%}
  {%- do return({'relations': run.relations}) -%}
{% endmacro %}
