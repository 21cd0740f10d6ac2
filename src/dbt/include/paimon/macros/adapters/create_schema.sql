{#- dbt creates the schemas of all nodes before the first node runs (see the Python module tables.schemas). -#}
{% macro paimon__create_schema(relation) -%}
  {%- do adapter.schemas.create(relation) -%}
{%- endmacro %}
