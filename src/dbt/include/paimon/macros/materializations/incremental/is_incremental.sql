{#-
  Whether a run adds rows to an existing relation. Differs from dbt's macro for clones by branch: these are views, and dbt
  treats a view as a model that is not built yet. dbt does not dispatch this macro, so it is redefined by name.
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
