{#- `dbt run-operation drop_table`: dbt has a macro `drop_table`, too, so the adapter calls this one for the operation. -#}
{% macro paimon__drop_table_operation(relation, confirm=none) %}
  {%- set confirmation = confirm if confirm is not none else var('confirm', none) -%}
  {%- do adapter.operations.drop_table(paimon__named_relation(relation), relation, confirmation) -%}
{% endmacro %}
