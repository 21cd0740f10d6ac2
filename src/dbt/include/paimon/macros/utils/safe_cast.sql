{#- Also converts lists and mappings of a unit test's YAML to arrays, maps and structs. -#}
{% macro paimon__safe_cast(field, type) -%}
{{ adapter.safe_cast_sql(field, type) }}
{%- endmacro %}
