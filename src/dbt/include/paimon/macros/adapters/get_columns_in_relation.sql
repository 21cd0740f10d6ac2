{#- dbt's macros want columns; dbt-spark's answers the rows of a DESCRIBE. -#}
{% macro paimon__get_columns_in_relation(relation) -%}
  {{ return(adapter.get_columns_in_relation(relation)) }}
{%- endmacro %}
