{#- `statistics_of` shows what it gathers, of the table snapshot that is read. -#}
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
