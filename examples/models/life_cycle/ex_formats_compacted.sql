{#- The same table, compacted after each run: the run's file and that of its post-hook, both Avro, are merged into a
    Parquet file of the last level. (A single file would move to the last level as it is.) -#}
{{ config(
    materialized='incremental',
    primary_key='id',
    bucket=1,
    tblproperties={
        'write-only': true,
        'file.format.per.level': {'0': 'avro', '1': 'avro'},
        'file.compression.per.level': {'0': 'snappy', '1': 'snappy'},
    },
    post_hook="insert into {{ this }} values (3L, 'event 3')",
    maintenance={'compact': {'every_commits': 1}},
) }}

select
    id,
    'event ' || id as payload
from {{ ref('ex_formats_per_level') }}
