{#- Functions in SQL; dbt itself refuses Python, JavaScript and other types, which lack such a macro. -#}
{% macro paimon__scalar_function_sql(target_relation) %}
  {%- do adapter.specs.refuse('functions', model) -%}
{% endmacro %}

{% macro paimon__aggregate_function_sql(target_relation) %}
  {%- do adapter.specs.refuse('functions', model) -%}
{% endmacro %}
