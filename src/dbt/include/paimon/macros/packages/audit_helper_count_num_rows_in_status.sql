{#-
  For audit_helper.compare_and_classify_query_results: Spark refuses count(distinct …) over a window, which is the package's
  default. Two dense ranks count the same, as neither column is ever null. Found by the search order of `dispatch.py`
  (docs/packages.md).
-#}
{% macro paimon___count_num_rows_in_status() %}
  dense_rank() over (
    partition by dbt_audit_row_status order by dbt_audit_surrogate_key, dbt_audit_pk_row_num
  )
  + dense_rank() over (
    partition by dbt_audit_row_status order by dbt_audit_surrogate_key desc, dbt_audit_pk_row_num desc
  )
  - 1
{% endmacro %}
