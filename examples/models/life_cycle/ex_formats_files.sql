{{ config(materialized='table') }}

select distinct
    'runs' as written_by,
    level,
    file_format
from {{ files_of(ref('ex_formats_per_level')) }}
union all
select distinct
    'compactions' as written_by,
    level,
    file_format
from {{ files_of(ref('ex_formats_compacted')) }}
