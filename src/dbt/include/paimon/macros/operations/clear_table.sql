{#- Delete all rows of a table, with those of its helper tables. -#}
{% macro clear_table(relation, confirm=none) %}
  {%- set table = paimon__confirmed_table('clear_table', relation, confirm) -%}
  {%- for each in paimon__with_deletes(table) -%}
    {%- do adapter.maintenance.run_operation(each, 'clear_table', 'truncate table ' ~ each.render()) -%}
  {%- endfor -%}
{% endmacro %}

{#- The table of an operation, if it exists and the operation is confirmed (see adapter.operations.refuse_unconfirmed). -#}
{% macro paimon__confirmed_table(operation, table, confirm) %}
  {%- set wanted = paimon__named_relation(table) -%}
  {%- set relation = adapter.get_relation(wanted.database, wanted.schema, wanted.identifier) -%}
  {%- if relation is none -%}
    {%- do exceptions.raise_compiler_error(operation ~ ': there is no table ' ~ wanted ~ '.') -%}
  {%- elif not relation.is_table -%}
    {%- do exceptions.raise_compiler_error(
      operation ~ ': ' ~ wanted ~ ' is a view, which holds no rows: remove its model, or drop it in Spark.'
    ) -%}
  {%- endif -%}
  {%- do adapter.operations.refuse_unconfirmed(operation, relation, table, confirm if confirm is not none else var('confirm', none)) -%}
  {%- do return(relation) -%}
{% endmacro %}

{#- A table, and the helper tables that apply_changes and paimon_changes keep for it. -#}
{% macro paimon__with_deletes(relation) %}
  {%- set beside = paimon__positions_relation(relation) -%}
  {%- set positions = adapter.get_relation(beside.database, beside.schema, beside.identifier) -%}
  {%- do return([relation] + adapter.deletes.relations(relation) + ([positions] if positions is not none else [])) -%}
{% endmacro %}
