{#-
  A model's Spark catalog: from its `catalog_name` (catalogs.yml), its `database` (or `catalog`), or the target.
  dbt-spark's macro returns none. Read the config by attribute, because the config of an export does not have `get`.
-#}
{% macro paimon__generate_database_name(custom_database_name=none, node=none) -%}
  {%- if node is not none and node.config and node.config.catalog_name -%}
    {%- do return(adapter.build_catalog_relation(node).catalog_database) -%}
  {%- endif -%}
  {%- do return(custom_database_name | trim if custom_database_name else target.database) -%}
{%- endmacro %}
