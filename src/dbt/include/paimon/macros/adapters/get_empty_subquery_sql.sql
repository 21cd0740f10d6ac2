{#- As dbt's, with the header as a separate statement, whether or not it ends in a semicolon. -#}
{% macro paimon__get_empty_subquery_sql(select_sql, select_sql_header=none) -%}
  {%- if select_sql_header %}
{{ select_sql_header }}
;
  {% endif -%}
  {{ default__get_empty_subquery_sql(select_sql) }}
{%- endmacro %}
