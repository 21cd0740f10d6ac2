{#- dbt's `where` of a data test, with a line break, so that a comment at its end does not hide the parenthesis. -#}
{% macro paimon__get_where_subquery(relation) -%}
  {%- set where = config.get('where') -%}
  {%- do return('(select * from ' ~ relation ~ ' where ' ~ where ~ '\n) dbt_subquery' if where else relation) -%}
{%- endmacro %}
