{#-
  A model's Spark catalog: that of its `catalog_name` (catalogs.yml), its `database` (or `catalog`), or the target's.
  dbt-spark returns none. The node can be of any kind: an export's config has attributes but no `get`.
-#}
{% macro paimon__generate_database_name(custom_database_name=none, node=none) -%}
  {%- if node is not none and node.config and node.config.catalog_name -%}
    {%- do return(adapter.build_catalog_relation(node).catalog_database) -%}
  {%- endif -%}
  {%- do return(custom_database_name | trim if custom_database_name else target.database) -%}
{%- endmacro %}
