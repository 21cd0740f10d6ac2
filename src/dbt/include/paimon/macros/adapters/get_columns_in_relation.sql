{#- dbt's macros expect columns, but dbt-spark's macro returns the rows of a DESCRIBE. -#}
{% macro paimon__get_columns_in_relation(relation) -%}
  {{ return(adapter.get_columns_in_relation(relation)) }}
{%- endmacro %}
