{#- Spark cannot read dbt-spark's before the year 1000, which strftime writes with fewer than four digits. -#}
{% macro paimon__date(year, month, day) -%}
cast('{{ modules.datetime.date(year, month, day).isoformat() }}' as date)
{%- endmacro %}
