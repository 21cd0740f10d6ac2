{#- A temporary view, without catalog and schema. Its name is unique across models, threads and batches. -#}
{% macro paimon__make_temp_relation(base_relation, suffix='__dbt_tmp') %}
  {%- set identifier = base_relation.identifier ~ suffix ~ '_' ~ adapter.unique_suffix() -%}
  {%- do return(
    api.Relation.create(identifier=identifier, type='view').include(database=false, schema=false)
  ) -%}
{% endmacro %}

{#- For materializations of packages. The adapter names its own staging tables in `TableWriter.staging`. -#}
{% macro paimon__make_intermediate_relation(base_relation, suffix) %}
  {%- do return(base_relation.incorporate(path={'identifier': base_relation.identifier ~ suffix}, type='table')) -%}
{% endmacro %}
