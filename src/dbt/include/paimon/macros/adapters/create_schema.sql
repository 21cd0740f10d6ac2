{% macro paimon__create_schema(relation) -%}
  {%- call statement('create_schema') -%}
    create database if not exists {{ relation.without_identifier() }}
  {%- endcall -%}
{%- endmacro %}
