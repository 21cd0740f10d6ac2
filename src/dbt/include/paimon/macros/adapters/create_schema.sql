{#-
  If views live in another catalog, the schema is created there too. dbt creates the schemas of all nodes before the
  first node runs: a failure is left for the nodes of that schema to report, so that the others run.
-#}
{% macro paimon__create_schema(relation) -%}
  {%- for schema in adapter.schemas.alike(relation)
      if adapter.has_catalog(schema.database) and not adapter.specs.schema_problem(schema.schema) -%}
    {%- do adapter.schemas.make(schema) -%}
    {%- do adapter.views.ensure_schema(schema) -%}
  {%- endfor -%}
{%- endmacro %}
