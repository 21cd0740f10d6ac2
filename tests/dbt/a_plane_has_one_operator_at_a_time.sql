-- A plane's rows in the snapshot must follow each other without overlap.
with intervals as (
    select
        tailnum,
        dbt_valid_from,
        lag(dbt_valid_to) over (partition by tailnum order by dbt_valid_from) as closed_before,
        row_number() over (partition by tailnum order by dbt_valid_from) as row_no
    from {{ ref('planes_snapshot') }}
)

select *
from intervals
where
    row_no > 1
    and (closed_before is null or closed_before > dbt_valid_from)
