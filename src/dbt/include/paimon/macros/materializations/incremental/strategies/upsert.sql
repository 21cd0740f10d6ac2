{#-
  upsert: a plain INSERT. The merge engine of a primary-key table updates existing keys, so the cost depends on the size
  of the batch, not of the table.
-#}
{% macro get_incremental_upsert_sql(arg_dict) %}
  {%- do return(paimon__insert_sql(arg_dict.target_relation, arg_dict.dest_columns, arg_dict.temp_relation)) -%}
{% endmacro %}
