{#- Refuse functions in SQL. dbt itself refuses other languages, because this adapter has no macro for them. -#}
{% macro paimon__scalar_function_sql(target_relation) %}
  {%- do adapter.specs.refuse('functions', model) -%}
{% endmacro %}

{% macro paimon__aggregate_function_sql(target_relation) %}
  {%- do adapter.specs.refuse('functions', model) -%}
{% endmacro %}
