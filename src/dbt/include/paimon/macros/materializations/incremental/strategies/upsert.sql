{#-
  upsert: a plain INSERT, which the merge engine of a primary-key table turns into an update of existing keys. It costs
  as much as the batch, not the table.
-#}
{% macro get_incremental_upsert_sql(arg_dict) %}
  {%- do return(paimon__insert_sql(arg_dict.target_relation, arg_dict.dest_columns, arg_dict.temp_relation)) -%}
{% endmacro %}
