{{ config(materialized='table') }}

select distinct 'as written' as state, level, file_format
from {{ files_of(ref('ex_formats_per_level')) }}
union all
select distinct 'compacted' as state, level, file_format
from {{ files_of(ref('ex_formats_compacted')) }}
