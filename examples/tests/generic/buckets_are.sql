{#- The files of a table are in these buckets (a list of numbers; none: in any) and hold so many rows, those of deletes
    counted too; partition: count those alone whose partition has this text; batch: the batch after which it is so. Fails
    with what is there. -#}
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
