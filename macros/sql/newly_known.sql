{#- The condition that makes a run incremental: what is known until the var's day and, on an incremental run, after
    the last day that the table already holds. Days are loaded whole. So a second run with the same day adds nothing,
    and runs in steps give the rows of one full run.

    column: the date in the input from which a row is known.
    held:   the expression in the table for the last day it holds; the same column by default. -#}
{% macro newly_known(column, held=none) -%}
    {{ column }} <= {{ known_until() }}
    {%- if is_incremental() %}
        and {{ column }} > {{ last_day_held(held or column) }}
    {%- endif %}
{%- endmacro %}


{#- The last day that the model's own table holds, as a scalar subquery. -#}
{% macro last_day_held(held) -%}
    (select coalesce(max({{ held }}), date '1900-01-01') from {{ this }})
{%- endmacro %}
