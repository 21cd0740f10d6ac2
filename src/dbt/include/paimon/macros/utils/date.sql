{#- dbt-spark writes years before 1000 with fewer than four digits (strftime), which Spark cannot read. -#}
{% macro paimon__date(year, month, day) -%}
cast('{{ modules.datetime.date(year, month, day).isoformat() }}' as date)
{%- endmacro %}
