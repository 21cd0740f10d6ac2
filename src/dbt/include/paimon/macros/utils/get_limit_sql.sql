{#- For `dbt show`: removes a semicolon at the end of the query before it adds the limit. -#}
{% macro paimon__get_limit_sql(sql, limit) -%}
  {{ default__get_limit_sql(adapter.rows.without_end(sql), limit) }}
{%- endmacro %}
