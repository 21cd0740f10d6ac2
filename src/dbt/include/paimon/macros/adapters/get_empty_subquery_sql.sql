{#- Like dbt's, but the header is always a separate statement, also without a semicolon at its end. -#}
{% macro paimon__get_empty_subquery_sql(select_sql, select_sql_header=none) -%}
  {%- if select_sql_header %}
{{ select_sql_header }}
;
  {% endif -%}
  {{ default__get_empty_subquery_sql(select_sql) }}
{%- endmacro %}
