{#- dbt's, for `dbt show`: the limit follows the query, and not the semicolon at its end. -#}
{% macro paimon__get_limit_sql(sql, limit) -%}
  {{ default__get_limit_sql(adapter.rows.without_end(sql), limit) }}
{%- endmacro %}
