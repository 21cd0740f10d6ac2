{#- As dbt's accepted_values: a quote or a backslash in a value is part of it. -#}
{% macro paimon__test_not_accepted_values(model, column_name, values, quote=True) -%}
  {{ dbt_utils.default__test_not_accepted_values(model, column_name, paimon__literals(values) if quote else values, quote=False) }}
{%- endmacro %}
