{#- A format and a codec for each level: what is written often is Avro with snappy, what compactions write is Parquet
    with zstd. -#}
{{ config(
    materialized='incremental',
    primary_key='id',
    bucket=1,
    file_format='parquet',
    tblproperties={
        'write-only': true,
        'file.format.per.level': {'0': 'avro', '1': 'avro'},
        'file.compression.per.level': {'0': 'snappy', '1': 'snappy'},
        'file.compression': 'zstd',
    },
) }}

select
    id,
    'event ' || id as payload
from range(3)
{%- if is_incremental() %}
where id not in (select kept.id from {{ this }} as kept)
{%- endif %}
