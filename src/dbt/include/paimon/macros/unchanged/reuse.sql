{#-
  Whether a node with `skip_unchanged` has nothing to do: then its result is stored, and its materialization ends. Runs what
  is due by its maintenance policy all the same.

  target: relation of type table; existing: the cached relation of that name, or none; spec: see adapter.specs.of;
  strategy: of an incremental model; rows: of a seed.
-#}
{% macro paimon__reuse(target, existing, spec, strategy='', rows=none) %}
  {%- set reused = adapter.unchanged.reused(
    model, target, existing, spec, strategy=strategy, reads_changes=adapter.changes.are_read(model),
    full_refresh=should_full_refresh(), rows=rows
  ) -%}
  {%- if not reused -%}
    {%- do return(false) -%}
  {%- endif -%}
  {{ store_result('main', response=reused.response, agate_table=reused.table) }}
  {%- do adapter.maintenance.after_run(target, spec) -%}
  {%- do return(true) -%}
{% endmacro %}
