{% macro paimon__drop_schema(relation) -%}
  {#- Some catalogs drop a schema but leave the files of its tables, which would block new tables with the same names. -#}
  {%- for table in adapter.schemas.tables_to_drop_first(relation) -%}
    {%- do drop_relation(table) -%}
  {%- endfor -%}
  {%- call statement('drop_schema') -%}
    drop database if exists {{ relation.without_identifier().render() }} cascade
  {%- endcall -%}
  {#- The definitions of the schema's views were dropped with its tables; the views may be in another catalog. -#}
  {%- do adapter.views.forget(relation.without_identifier()) -%}
{%- endmacro %}
