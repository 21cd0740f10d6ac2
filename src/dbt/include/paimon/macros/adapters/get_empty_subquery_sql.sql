{#- Like dbt's, but the header is a separate statement even if it does not end with a semicolon. -#}
{% macro paimon__get_empty_subquery_sql(select_sql, select_sql_header=none) -%}
  {%- if select_sql_header %}
{{ select_sql_header }}
;
  {% endif -%}
  {{ default__get_empty_subquery_sql(select_sql) }}
{%- endmacro %}
