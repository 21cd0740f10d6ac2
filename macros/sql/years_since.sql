{#- Whole years from the given one to the present one. -#}
{% macro years_since(year) -%}
    {{ return(run_started_at.year - year) }}
{%- endmacro %}
