{#- A contract's columns, each in backticks: dbt quotes those with `quote: true` only, and `Order Id` would not parse. -#}
{% macro paimon__get_column_names() -%}
  {{ paimon__quoted_key(model['columns']) | join(', ') }}
{%- endmacro %}

{% macro paimon__get_empty_schema_sql(columns) -%}
  {%- set quoted = {} -%}
  {%- for name in columns -%}{%- do quoted.update({name: dict(columns[name], quote=true)}) -%}{%- endfor -%}
  {{ default__get_empty_schema_sql(quoted) }}
{%- endmacro %}
