{#-
  Gather statistics with ANALYZE TABLE, for Spark's optimizer: the table's rows and bytes, and of columns the number of
  distinct and NULL values, minimum, maximum and length. They are of the table snapshot that is read; statistics_of shows them.

  columns: a column, a list of them, or 'all'; none: of the table alone.

  dbt run-operation analyze --args '{relation: orders, columns: [customer_id]}'
-#}
{% macro analyze(relation, columns=none) -%}
  {%- if not execute -%}{%- do return('') -%}{%- endif -%}
  {%- set target_relation = paimon__named_relation(relation) -%}
  {%- if paimon__is_clone('analyze', target_relation) -%}{%- do return('') -%}{%- endif -%}
  {%- if columns == 'all' -%}
    {%- set of_columns = ' for all columns' -%}
  {%- elif columns is none -%}
    {%- set of_columns = '' -%}
  {%- else -%}
    {%- set names = [] -%}
    {%- for column in ([columns] if columns is string else columns) -%}
      {%- do names.append(adapter.quote(column)) -%}
    {%- endfor -%}
    {%- set of_columns = ' for columns ' ~ names | join(', ') -%}
  {%- endif -%}
  {%- do return(paimon__maintenance_sql(
    'analyze', target_relation, 'analyze table ' ~ target_relation ~ ' compute statistics' ~ of_columns
  )) -%}
{%- endmacro %}
