{#- The names in backticks, as a list. -#}
{% macro paimon__quoted(names) %}
  {%- set quoted = [] -%}
  {%- for name in names -%}{%- do quoted.append(adapter.quote(name)) -%}{%- endfor -%}
  {%- do return(quoted) -%}
{% endmacro %}

{% macro paimon__quoted_columns(columns) %}
  {%- do return(paimon__quoted(columns | map(attribute='name'))) -%}
{% endmacro %}
