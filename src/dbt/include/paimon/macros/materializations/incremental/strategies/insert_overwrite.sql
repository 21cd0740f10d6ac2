{#- insert_overwrite: replaces the partitions of the new rows in one commit. -#}
{% macro paimon__get_incremental_insert_overwrite_sql(arg_dict) %}
  {%- do return(paimon__overwrite_sql(arg_dict.target_relation, arg_dict.dest_columns, [], arg_dict.temp_relation)) -%}
{% endmacro %}
