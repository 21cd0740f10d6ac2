{#- Whether a delay in minutes counts as late; a missing delay (never left, never arrived) does not. -#}
{% macro is_late(delay) -%}
    (coalesce({{ delay }}, 0) >= {{ var('late_after_minutes') }})
{%- endmacro %}
