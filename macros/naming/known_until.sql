{#- The last day whose messages may be loaded, as a date literal. -#}
{% macro known_until() -%}
    date '{{ known_day() }}'
{%- endmacro %}


{#- The same as text. From `--vars '{known_until: 2013-06-30}'`. -#}
{% macro known_day() -%}
    {%- set day = var('known_until') | string | trim -%}
    {%- if execute and not modules.re.match('^\\d{4}-\\d{2}-\\d{2}$', day) -%}
        {{ exceptions.raise_compiler_error(
            "The var known_until is '" ~ day ~ "', which is not a date: write --vars '{known_until: 2013-06-30}'"
        ) }}
    {%- endif -%}
    {{ return(day) }}
{%- endmacro %}
