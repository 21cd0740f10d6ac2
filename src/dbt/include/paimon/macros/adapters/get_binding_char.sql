{#- Spark's positional parameter marker: values are passed as typed literals. -#}
{% macro paimon__get_binding_char() -%}
  {{ return('?') }}
{%- endmacro %}
