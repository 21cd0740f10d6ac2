{% macro paimon__drop_schema(relation) -%}
  {#- Some catalogs drop a schema but leave the files of its tables, which would block new tables with the same names. -#}
  {%- set tables = adapter.schemas.tables_to_drop_first(relation) -%}
  {#- Drops the views if they are in another catalog. Their definitions are dropped with the schema's tables. -#}
  {%- do adapter.views.forget(relation.without_identifier()) -%}
  {%- for table in tables -%}
    {%- do drop_relation(table) -%}
  {%- endfor -%}
  {%- call statement('drop_schema') -%}
    drop database if exists {{ relation.without_identifier().render() }} cascade
  {%- endcall -%}
{%- endmacro %}
