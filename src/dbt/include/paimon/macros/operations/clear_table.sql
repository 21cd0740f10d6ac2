{#- Delete all rows of a table and of its helper tables. -#}
{% macro clear_table(relation, confirm=none) %}
  {%- set confirmation = confirm if confirm is not none else var('confirm', none) -%}
  {%- do adapter.operations.clear_table(paimon__named_relation(relation), relation, confirmation) -%}
{% endmacro %}
