{#- Like dbt's, but with escaped literals: a quote or a backslash is part of the value. -#}
{% macro paimon__test_accepted_values(model, column_name, values, quote=True) -%}
  {{ default__test_accepted_values(model, column_name, paimon__literals(values) if quote else values, quote=False) }}
{%- endmacro %}

{% macro paimon__literals(values) %}
  {%- set literals = [] -%}
  {%- for value in values -%}{%- do literals.append(adapter.string_literal(value)) -%}{%- endfor -%}
  {%- do return(literals) -%}
{% endmacro %}
