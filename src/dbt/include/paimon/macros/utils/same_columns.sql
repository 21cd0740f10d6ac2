{#- The condition that columns of these names are equal in two relations. -#}
{% macro paimon__same_columns(one, other, names, equals='=') %}
  {%- set same = [] -%}
  {%- for name in paimon__quoted(names) -%}
    {%- do same.append(one ~ '.' ~ name ~ ' ' ~ equals ~ ' ' ~ other ~ '.' ~ name) -%}
  {%- endfor -%}
  {%- do return(same | join(' and ')) -%}
{% endmacro %}
