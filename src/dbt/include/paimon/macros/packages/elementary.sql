{#-
  elementary inserts rows into an intermediate relation: a table next to its target. The package's default is its temporary
  relation, which is a view in Spark. dbt finds the macros of this file by the search order of `dispatch.py`
  (docs/packages.md).
-#}
{% macro paimon__edr_make_intermediate_relation(base_relation) %}
  {%- set suffix = elementary.get_timestamped_table_suffix() -%}
  {%- set identifier = elementary.table_name_with_suffix(base_relation.identifier, suffix) -%}
  {%- do return(base_relation.incorporate(path={'identifier': identifier}, type='table')) -%}
{% endmacro %}

{#- A temporary view has neither catalog nor schema. The package's macro for Spark removes only the schema. -#}
{% macro paimon__edr_make_temp_relation(base_relation, suffix) %}
  {%- set identifier = elementary.table_name_with_suffix(base_relation.identifier, suffix) -%}
  {%- do return(
    api.Relation.create(identifier=identifier, type='view').include(database=false, schema=false)
  ) -%}
{% endmacro %}

{#-
  Paimon 0.9 refuses the package's `merge` from another Paimon table (both have `__paimon_file_path`). So the source is a
  query, with each key once.
-#}
{% macro paimon__get_delete_and_insert_queries(relation, insert_relation, delete_relation, delete_column_key) %}
  {%- set queries = [] -%}
  {%- if delete_relation -%}
    {%- do queries.append("delete from " ~ relation ~ " where " ~ delete_column_key ~ " is null") -%}
    {%- do queries.append(
      "merge into " ~ relation ~ " as target using (select distinct " ~ delete_column_key ~ " from " ~ delete_relation
      ~ ") as source on target." ~ delete_column_key ~ " = source." ~ delete_column_key ~ " when matched then delete"
    ) -%}
  {%- endif -%}
  {%- if insert_relation -%}
    {%- do queries.append("insert into " ~ relation ~ " select * from " ~ insert_relation) -%}
  {%- endif -%}
  {%- do return(queries) -%}
{% endmacro %}
