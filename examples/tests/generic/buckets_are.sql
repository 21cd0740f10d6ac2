{#- The files of a table are in exactly these buckets, and have this number of rows, deletes included. Fails with the
    actual buckets and rows.

    buckets: a list of numbers; none: not checked. rows: none: not checked. partition: check only partitions whose text
    contains this. batch: the batch from which on the test applies. -#}
{% test buckets_are(model, buckets=none, rows=none, partition='', batch=1) %}

with files as (
    select
        sort_array(collect_set(bucket)) as buckets,
        coalesce(sum(record_count), 0) as record_count
    from {{ model.system_table('files') }}
    where partition like '%{{ partition }}%'
)

select *
from files
where
    {{ var('batch') }} >= {{ batch }}
    and (
        {{ 'buckets <> array(' ~ buckets | join(', ') ~ ')' if buckets is not none else 'false' }}
        or {{ 'record_count <> ' ~ rows if rows is not none else 'false' }}
    )

{% endtest %}
