{#-
  A temporary view of this thread's session: it has no catalog and no schema, and its name is unique across models,
  threads and batches.
-#}
{% macro paimon__make_temp_relation(base_relation, suffix='__dbt_tmp') %}
  {%- set identifier = base_relation.identifier ~ suffix ~ '_' ~ adapter.unique_suffix() -%}
  {%- do return(
    api.Relation.create(identifier=identifier, type='view').include(database=false, schema=false)
  ) -%}
{% endmacro %}

{#- Staging tables are real tables next to the target, until they replace it. -#}
{% macro paimon__make_intermediate_relation(base_relation, suffix) %}
  {%- do return(base_relation.incorporate(path={'identifier': base_relation.identifier ~ suffix}, type='table')) -%}
{% endmacro %}
