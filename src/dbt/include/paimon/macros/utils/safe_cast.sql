{#- Lists and mappings of a unit test's YAML become arrays, maps and structs. -#}
{% macro paimon__safe_cast(field, type) -%}
{{ adapter.safe_cast_sql(field, type) }}
{%- endmacro %}
