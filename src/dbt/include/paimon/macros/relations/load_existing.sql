{#-
  What stands under a model's name, or none. Leftovers of a run that was killed are in the listing that dbt made at its
  start: they go first. (A swap that was half done has been finished by that listing.)
-#}
{% macro paimon__load_existing(target) %}
  {%- do drop_relation_if_exists(load_cached_relation(make_intermediate_relation(target))) -%}
  {%- do drop_relation_if_exists(load_cached_relation(make_backup_relation(target, 'table'))) -%}
  {%- do return(load_cached_relation(target)) -%}
{% endmacro %}
