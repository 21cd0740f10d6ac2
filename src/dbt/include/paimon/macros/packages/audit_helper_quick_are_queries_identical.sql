{#-
  For audit_helper.quick_are_queries_identical and quick_are_relations_identical, which the package has for Snowflake and
  BigQuery only. Rows count as often as they occur: their number and the sum of their hashes must agree. The hash is of
  JSON, because xxhash64 of columns leaves out nulls, so that ('a', null) and (null, 'a') would be equal; to_json alone
  would cut off microseconds. Found by the search order of `dispatch.py` (docs/packages.md).
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
