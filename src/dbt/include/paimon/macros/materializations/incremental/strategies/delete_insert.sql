{#-
  delete+insert: deletes the table's rows whose unique_key is in the batch and inserts the batch. One statement does
  both, so no reader sees only the deletes, and no crash leaves the table in that state.
-#}
{% macro paimon__get_incremental_delete_insert_sql(arg_dict) %}
  {%- set keys = adapter.specs.columns(arg_dict.unique_key) -%}
  {%- set keys_of_batch -%}
    select distinct {% for key in keys %}{{ adapter.quote(key) }} as __dbt_delete_key_{{ loop.index }}{{ ', ' if not loop.last }}{% endfor %}
    from {{ arg_dict.temp_relation }}
  {%- endset -%}
  {%- set matches = [] -%}
  {%- for key in keys -%}{%- do matches.append('{alias}.' ~ adapter.quote(key)) -%}{%- endfor -%}
  {%- do return(paimon__replace_rows_sql(arg_dict, keys_of_batch, matches)) -%}
{% endmacro %}
