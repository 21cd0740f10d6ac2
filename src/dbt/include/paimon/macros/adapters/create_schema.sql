{#- dbt creates all schemas before the first node runs, so skip invalid ones (see the Python module tables.schemas). -#}
{% macro paimon__create_schema(relation) -%}
  {%- do adapter.schemas.create(relation) -%}
{%- endmacro %}
