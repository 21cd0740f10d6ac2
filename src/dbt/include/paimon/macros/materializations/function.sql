{#- Functions in SQL; those in Python and JavaScript, and of other types, dbt refuses itself for want of such a macro. -#}
{% macro paimon__scalar_function_sql(target_relation) %}
  {%- do adapter.refuse('functions', model) -%}
{% endmacro %}

{% macro paimon__aggregate_function_sql(target_relation) %}
  {%- do adapter.refuse('functions', model) -%}
{% endmacro %}
