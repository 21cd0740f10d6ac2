{#- EXPLAIN succeeds also for a query with unknown columns, so Spark analyzes the query first. -#}
{% macro paimon__validate_sql(sql) -%}
  {%- do adapter.rows.query(sql) -%}
  {{ return(default__validate_sql(sql)) }}
{%- endmacro %}
