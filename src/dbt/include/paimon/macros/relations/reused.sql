{#- End a skipped node, whose maintenance still runs, and return its relations. -#}
{% macro paimon__reused(run) %}
  {{ store_result('main', response=run.reused.response, agate_table=run.reused.table) }}
  {%- do adapter.runs.end(run) -%}
  {%- do return({'relations': run.relations}) -%}
{% endmacro %}
