{#- dbt-spark's macro makes an empty array without a type. -#}
{% macro paimon__array_construct(inputs, data_type) -%}
{{ spark__array_construct(inputs, data_type) if inputs else 'cast(array() as array<' ~ data_type ~ '>)' }}
{%- endmacro %}
