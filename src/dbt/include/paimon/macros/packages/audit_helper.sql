{#-
  For audit_helper.compare_and_classify_query_results: Spark does not support the package's count(distinct …) over a window.
  Two dense ranks count the same, because neither column is ever null. dbt finds the macros of this file by the search order
  of `dispatch.py` (docs/packages.md).
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

{#-
  For audit_helper.quick_are_queries_identical and quick_are_relations_identical, which the package has only for Snowflake
  and BigQuery. Compares the number of rows and the sum of their hashes, so duplicates count. The hash is of JSON, because
  xxhash64 of columns skips nulls: ('a', null) would equal (null, 'a'). The options keep microseconds and nulls in the JSON.
-#}
{% macro paimon__quick_are_queries_identical(query_a, query_b, columns, event_time) %}
  {%- set bounds = audit_helper._get_comparison_bounds(query_a, query_b, event_time) if event_time -%}
  {%- set options = "map('timestampFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSSXXX', "
    "'timestampNTZFormat', 'yyyy-MM-dd HH:mm:ss.SSSSSS', 'ignoreNullFields', 'false')" -%}
  select count(distinct number_of_rows, sum_of_hashes) = 1 as are_tables_identical
  from (
    {%- for query in [query_a, query_b] %}
    select
      count(*) as number_of_rows,
      coalesce(
        sum(cast(xxhash64(to_json(struct({{ columns | join(', ') }}), {{ options }})) as decimal(38, 0))), 0
      ) as sum_of_hashes
    from ({{ query }}) as compared
    {{ audit_helper.event_time_filter(bounds) }}
    {%- if not loop.last %}
    union all
    {%- endif %}
    {%- endfor %}
  ) as hashes
{% endmacro %}
