{#-
  upsert: a plain INSERT, which the merge engine of a primary-key table makes an update of the rows it knows. Its cost
  is the batch's, not the table's.
-#}
{% macro get_incremental_upsert_sql(arg_dict) %}
  {%- do return(paimon__insert_sql(arg_dict.target_relation, arg_dict.dest_columns, arg_dict.temp_relation)) -%}
{% endmacro %}
