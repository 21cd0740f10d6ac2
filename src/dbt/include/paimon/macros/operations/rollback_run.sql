{#- Roll back every table that a run of dbt wrote, or none of them (see the Python module time_travel.run_rollbacks). -#}
{% macro rollback_run(results=none, invocation_id=none, exclude=[], drop_tags=false) %}
  {%- set nodes = graph.nodes.values() | list -%}
  {%- for relation, version in adapter.operations.tables_before_run(nodes, results, invocation_id, exclude, drop_tags) -%}
    {%- do paimon__call_procedure('rollback_to', relation, {'version': version}) -%}
  {%- endfor -%}
{% endmacro %}
