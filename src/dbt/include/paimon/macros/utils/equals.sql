{#- dbt's own does not put expressions in parentheses: `a or b` and `x is null` compare something else. -#}
{% macro paimon__equals(expr1, expr2) -%}
{{ default__equals('(' ~ expr1 ~ ')', '(' ~ expr2 ~ ')') }}
{%- endmacro %}
