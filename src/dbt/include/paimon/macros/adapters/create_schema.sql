{#- Where views live in another catalog, the schema exists there too. -#}
{% macro paimon__create_schema(relation) -%}
  {%- call statement('create_schema') -%}
    create database if not exists {{ relation.without_identifier().render() }}
  {%- endcall -%}
  {%- do adapter.ensure_view_schema(relation) -%}
{%- endmacro %}
