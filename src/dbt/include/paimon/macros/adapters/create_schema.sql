{#-
  Where views live in another catalog, the schema exists there too. dbt creates the schemas of all nodes before the first
  of them runs: one that cannot be is left for its nodes to be refused, so that the others run.
-#}
{% macro paimon__create_schema(relation) -%}
  {%- if adapter.has_catalog(relation.database) and not adapter.schema_problem(relation.schema) -%}
    {%- do adapter.make_schema(relation) -%}
    {%- do adapter.ensure_view_schema(relation) -%}
  {%- endif -%}
{%- endmacro %}
