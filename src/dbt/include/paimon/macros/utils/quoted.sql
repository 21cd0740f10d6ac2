{#- The names in backticks, as a list. -#}
{% macro paimon__quoted(names) %}
  {%- set quoted = [] -%}
  {%- for name in names -%}{%- do quoted.append(adapter.quote(name)) -%}{%- endfor -%}
  {%- do return(quoted) -%}
{% endmacro %}
