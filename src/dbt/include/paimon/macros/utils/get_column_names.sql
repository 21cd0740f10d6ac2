{#- A contract's columns in backticks. dbt quotes only those with `quote: true`, so `Order Id` would not parse. -#}
{% macro paimon__get_column_names() -%}
  {{ paimon__quoted(model['columns']) | join(', ') }}
{%- endmacro %}

{% macro paimon__get_empty_schema_sql(columns) -%}
  {%- set quoted = {} -%}
  {%- for name in columns -%}{%- do quoted.update({name: dict(columns[name], quote=true)}) -%}{%- endfor -%}
  {{ default__get_empty_schema_sql(quoted) }}
{%- endmacro %}
