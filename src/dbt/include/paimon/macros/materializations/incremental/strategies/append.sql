{#- append: adds the rows to a table without a primary key. -#}
{% macro paimon__get_incremental_append_sql(arg_dict) %}
  {%- do return(paimon__insert_sql(arg_dict.target_relation, arg_dict.dest_columns, arg_dict.temp_relation)) -%}
{% endmacro %}
