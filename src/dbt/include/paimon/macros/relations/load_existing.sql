{#-
  What stands under a model's name, or none. Leftovers of a run that was killed are in the listing that dbt made at its
  start: they go first. (A swap that was half done has been finished by that listing.)

  hold: whether the node is to be the table's only writer until it ends; the first to make it always is.
-#}
{% macro paimon__load_existing(target, hold=true) %}
  {%- if hold or load_cached_relation(target) is none -%}
    {%- do adapter.hold_table(target) -%}
  {%- endif -%}
  {%- for leftover in adapter.leftovers(target) -%}
    {%- do adapter.drop_relation(leftover) -%}
  {%- endfor -%}
  {%- do return(load_cached_relation(target)) -%}
{% endmacro %}
