{#-
  For elementary: Paimon 0.9 refuses a `merge` whose source is another table of Paimon (both have `__paimon_file_path`),
  which is what the package does for Spark. So the source is a query, with each key once. Found by the search order of
  `dispatch.py` (docs/packages.md).
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
