{#-
  `dbt run-operation drop_table`. dbt has a macro of that name, which returns the DDL for a relation; adapter.execute_macro
  calls this one for the operation.
-#}
{% macro paimon__drop_table_operation(relation, confirm=none) %}
  {%- set table = paimon__confirmed_table('drop_table', relation, confirm) -%}
  {%- for each in paimon__with_deletes(table) -%}
    {%- do adapter.builds.hold(each) -%}
    {%- do adapter.drop_relation(each) -%}
    {%- do adapter.builds.release() -%}
  {%- endfor -%}
  {%- do log('drop_table on ' ~ table ~ ': done', info=true) -%}
{% endmacro %}
