{#- Spark's positional parameter markers: values travel as typed literals. -#}
{% macro paimon__get_binding_char() -%}
  {{ return('?') }}
{%- endmacro %}
