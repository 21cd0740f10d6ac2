{#- The same table, compacted after each run. The Avro file of the first batch is alone and moves to the last level as
    it is; in the second batch two Avro files are merged into a Parquet file of the last level. -#}
{{ config(
    materialized='incremental',
    primary_key='id',
    bucket=1,
    tblproperties={
        'write-only': true,
        'file.format.per.level': {'0': 'avro', '1': 'avro'},
        'file.compression.per.level': {'0': 'snappy', '1': 'snappy'},
    },
    maintenance={'compact': {'every_commits': 1}},
) }}

select
    id,
    'event ' || id as payload
from {{ ref('ex_formats_per_level') }}
where
    id <= {{ var('batch') }}
    {%- if is_incremental() %}
    and id > (select coalesce(max(known.id), 0) from {{ this }} as known)
    {%- endif %}
