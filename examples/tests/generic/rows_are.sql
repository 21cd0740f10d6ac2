{#- The model has exactly these rows: a list of {column: SQL literal}, the same columns in each; a row that exists twice
    has to be listed twice. Fails with the rows that are missing or too many.

    batch: the batch from which on the test applies. -#}
{% test rows_are(model, rows, batch=1) %}

{%- set columns = (rows | first).keys() | list %}

with actual as (
    select {{ columns | join(', ') }}
    from {{ model }}
),

{# One line per row; the linter does not see any rows here. #}
expected as ({% for row in rows %}
    select{% for column in columns %} {{ row[column] if row[column] is not none else 'null' }} as {{ column }}
        {{- ',' if not loop.last }}{% endfor %} {{ 'union all' if not loop.last }}
{% endfor %}),

missing as (
    select * from expected
    except all
    select * from actual
),

too_many as (
    select * from actual
    except all
    select * from expected
)

select *
from (
    select
        'missing' as problem,
        *
    from missing
    union all
    select
        'too many' as problem,
        *
    from too_many
) as differing
where {{ var('batch') }} >= {{ batch }}

{% endtest %}
