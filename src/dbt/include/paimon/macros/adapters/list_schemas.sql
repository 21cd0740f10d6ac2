{#- database: the catalog as dbt passes it: a name, or a rendered (already quoted) one. -#}
{% macro paimon__list_schemas(database) -%}
  {%- set rendered = database if database and database.startswith('`') else adapter.quote(database or target.database) -%}
  {% call statement('list_schemas', fetch_result=True, auto_begin=False) -%}
    show databases in {{ rendered }}
  {%- endcall %}
  {{ return(load_result('list_schemas').table) }}
{%- endmacro %}
