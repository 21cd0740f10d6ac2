{% macro paimon__drop_schema(relation) -%}
  {%- call statement('drop_schema') -%}
    drop database if exists {{ relation.without_identifier().render() }} cascade
  {%- endcall -%}
  {#- The definitions of the schema's views went with its tables; the views themselves may live in another catalog. -#}
  {%- do adapter.forget_schema(relation) -%}
{%- endmacro %}
