{#-
  The existing relation of a model's name, or none. First drops leftovers of killed runs, which are in the listing that
  dbt made at its start. (That listing has also finished interrupted swaps.)

  hold: whether the node holds the table's lock until it ends; the first to create a table always does.
-#}
{% macro paimon__load_existing(target, hold=true) %}
  {%- if hold or load_cached_relation(target) is none -%}
    {%- do adapter.builds.hold(target) -%}
  {%- endif -%}
  {%- for leftover in adapter.builds.leftovers(target) -%}
    {%- do adapter.drop_relation(leftover) -%}
  {%- endfor -%}
  {%- do return(load_cached_relation(target)) -%}
{% endmacro %}
