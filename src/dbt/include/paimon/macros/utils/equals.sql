{#- dbt's own does not put the expressions in parentheses, so `a or b` or `x is null` would compare something else. -#}
{% macro paimon__equals(expr1, expr2) -%}
{{ default__equals('(' ~ expr1 ~ ')', '(' ~ expr2 ~ ')') }}
{%- endmacro %}
