{#-
  For elementary, which inserts rows into an intermediate relation: a table beside the one that it is for. The package's
  default is its temporary relation, which is a view in Spark. Found by the search order of `dispatch.py`
  (docs/packages.md).
-#}
{% macro paimon__edr_make_intermediate_relation(base_relation) %}
  {%- set suffix = elementary.get_timestamped_table_suffix() -%}
  {%- set identifier = elementary.table_name_with_suffix(base_relation.identifier, suffix) -%}
  {%- do return(base_relation.incorporate(path={'identifier': identifier}, type='table')) -%}
{% endmacro %}
