{% macro paimon__drop_schema(relation) -%}
  {#- Some catalogs forget a schema's tables and leave their files, which no table of the same name could take over. -#}
  {%- for table in adapter.tables_to_drop_with(relation) -%}
    {%- do drop_relation(table) -%}
  {%- endfor -%}
  {%- call statement('drop_schema') -%}
    drop database if exists {{ relation.without_identifier().render() }} cascade
  {%- endcall -%}
  {#- The definitions of the schema's views went with its tables; the views themselves may live in another catalog. -#}
  {%- do adapter.forget_schema(relation) -%}
{%- endmacro %}
