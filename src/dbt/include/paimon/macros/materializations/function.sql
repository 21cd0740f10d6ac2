{#- Functions in SQL. dbt itself refuses other kinds (such as Python or JavaScript), as they have no such macro. -#}
{% macro paimon__scalar_function_sql(target_relation) %}
  {%- do adapter.specs.refuse('functions', model) -%}
{% endmacro %}

{% macro paimon__aggregate_function_sql(target_relation) %}
  {%- do adapter.specs.refuse('functions', model) -%}
{% endmacro %}
