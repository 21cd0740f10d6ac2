{#- Spark's positional parameter marker. The adapter passes values as typed literals. -#}
{% macro paimon__get_binding_char() -%}
  {{ return('?') }}
{%- endmacro %}
