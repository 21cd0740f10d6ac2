{#-
  partial_update: writes only the model's columns; the merge engine keeps the other columns of a row. So several models
  can write different columns of the same row.
-#}
{% macro get_incremental_partial_update_sql(arg_dict) %}
  {%- do return(paimon__insert_sql(arg_dict.target_relation, arg_dict.dest_columns, arg_dict.temp_relation)) -%}
{% endmacro %}
