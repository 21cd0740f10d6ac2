{#- EXPLAIN succeeds also for a query with unknown columns, so Spark analyzes the query first. -#}
{% macro paimon__validate_sql(sql) -%}
  {%- do get_column_schema_from_query(sql) -%}
  {{ return(default__validate_sql(sql)) }}
{%- endmacro %}
