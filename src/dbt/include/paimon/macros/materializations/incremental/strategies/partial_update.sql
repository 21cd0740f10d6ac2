{#-
  partial_update: only the model's columns are written; the merge engine leaves the others of a row as they are.
  Two models may so fill one row, each its columns.
-#}
{% macro get_incremental_partial_update_sql(arg_dict) %}
  {%- do return(paimon__insert_sql(arg_dict.target_relation, arg_dict.dest_columns, arg_dict.temp_relation)) -%}
{% endmacro %}
