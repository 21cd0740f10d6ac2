{#- Gather statistics of the newest table snapshot; `statistics_of` shows them. -#}
{% macro analyze(relation, columns=none) -%}
  {%- if not execute -%}{%- do return('') -%}{%- endif -%}
  {%- set target_relation = paimon__named_relation(relation) -%}
  {%- if columns == 'all' -%}
    {%- set of_columns = ' for all columns' -%}
  {%- elif columns is none -%}
    {%- set of_columns = '' -%}
  {%- else -%}
    {%- set names = paimon__quoted([columns] if columns is string else columns) -%}
    {%- set of_columns = ' for columns ' ~ names | join(', ') -%}
  {%- endif -%}
  {%- set sql = 'analyze table ' ~ target_relation ~ ' compute statistics' ~ of_columns -%}
  {%- do return(adapter.operations.maintain_by(model, 'analyze', target_relation, sql)) -%}
{%- endmacro %}
