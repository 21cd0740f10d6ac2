{{ config(materialized='table') }}

select
    (select count(*) from {{ files_of(ref('ex_compacted_orders')) }}) as files,
    (select count(*) <= 3 from {{ snapshots_of(ref('ex_compacted_orders')) }}) as is_short_history
