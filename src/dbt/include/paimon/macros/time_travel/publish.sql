{#- Publish the rows of a model whose audit failed. -#}
{% macro publish(relation) %}
  {%- do adapter.operations.publish(context, paimon__named_relation(relation)) -%}
{% endmacro %}
