{#- `part` of `whole` in percent with two decimals; null if `whole` is null or zero. -#}
{% macro percentage(part, whole) -%}
    cast(round(100.0 * {{ part }} / nullif({{ whole }}, 0), 2) as double)
{%- endmacro %}
