{#- A model's `database` (or `catalog`) is a Spark catalog: its own, or the target's. dbt-spark has none and answers none. -#}
{% macro paimon__generate_database_name(custom_database_name=none, node=none) -%}
  {%- do return(custom_database_name | trim if custom_database_name else target.database) -%}
{%- endmacro %}
