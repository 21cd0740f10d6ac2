{#- dbt passes the catalog as a plain or an already quoted name. -#}
{% macro paimon__list_schemas(database) -%}
  {%- set rendered = database if database and database.startswith('`') else adapter.quote(database or target.database) -%}
  {% call statement('list_schemas', fetch_result=True, auto_begin=False) -%}
    show databases in {{ rendered }}
  {%- endcall %}
  {{ return(load_result('list_schemas').table) }}
{%- endmacro %}
