{#- Three queries of one table's system tables: table snapshots, files, and files and megabytes by level. -#}
{{ config(materialized='table') }}

select
    (select count(*) from {{ snapshots_of(ref('ex_monitored_orders')) }}) as snapshots,
    (select count(*) from {{ files_of(ref('ex_monitored_orders')) }}) as files,
    levels.level,
    levels.file_count,
    levels.total_mb < 1 as is_small
from (
    select
        level,
        count(*) as file_count,
        sum(file_size_in_bytes) / 1024 / 1024 as total_mb
    from {{ files_of(ref('ex_monitored_orders')) }}
    group by level
) as levels
