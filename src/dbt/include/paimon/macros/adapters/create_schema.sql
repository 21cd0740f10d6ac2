{#- Where views live in another catalog, the schema exists there too. -#}
{% macro paimon__create_schema(relation) -%}
  {%- call statement('create_schema') -%}
    create database if not exists {{ relation.without_identifier().render() }}
  {%- endcall -%}
  {%- set home = adapter.view_schema(relation) -%}
  {%- if home -%}
    {%- call statement('create_view_schema') -%}
      create database if not exists {{ home }}
    {%- endcall -%}
  {%- endif -%}
{%- endmacro %}
