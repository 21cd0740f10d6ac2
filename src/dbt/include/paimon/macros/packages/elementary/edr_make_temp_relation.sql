{#-
  For elementary: a temporary view has neither catalog nor schema. The package's macro for Spark takes the schema away and
  leaves the catalog. Found by the search order of `dispatch.py` (docs/packages.md).
-#}
{% macro paimon__edr_make_temp_relation(base_relation, suffix) %}
  {%- set identifier = elementary.table_name_with_suffix(base_relation.identifier, suffix) -%}
  {%- do return(
    api.Relation.create(identifier=identifier, type='view').include(database=false, schema=false)
  ) -%}
{% endmacro %}
