{#-
  Whether a model adds to what is there: dbt's macro, which takes every view for a model that is still to be built, but
  for clones that are branches. Not dispatched by dbt, hence redefined by name.
-#}
{% macro is_incremental() %}
  {%- if not execute -%}
    {%- do return(false) -%}
  {%- endif -%}
  {%- set relation = adapter.get_relation(this.database, this.schema, this.table) -%}
  {%- if relation is none or model.config.materialized != 'incremental' or should_full_refresh() -%}
    {%- do return(false) -%}
  {%- endif -%}
  {%- do return(adapter.plans.adds_to(model, relation)) -%}
{% endmacro %}
