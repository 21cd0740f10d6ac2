{#- No bucket holds more than `max_gb` GiB. -#}
{% test bucket_size(model, max_gb=5) %}
select partition, bucket, row_count, byte_count
from ({{ adapter.health.sql(model, 'bucket_size') }}) as buckets
where byte_count > {{ max_gb | float }} * 1073741824
{% endtest %}

{#-
  No bucket has more than `max_skew` times the mean row count of its partition's buckets, empty ones included. Partitions
  with fewer than `min_rows` rows are skipped.
-#}
{% test bucket_skew(model, max_skew=3, min_rows=1000) %}
select partition, bucket, row_count, mean_rows, skew
from ({{ adapter.health.sql(model, 'bucket_skew') }}) as buckets
where partition_rows >= {{ min_rows | int }} and skew > {{ max_skew | float }}
{% endtest %}

{#- No bucket has too many sorted runs, which every reader merges, or too many small files. -#}
{% test compaction_needed(model, max_sorted_runs=5, max_small_files=50) %}
select partition, bucket, files, small_files, sorted_runs
from ({{ adapter.health.sql(model, 'compaction_needed') }}) as buckets
where (is_keyed and sorted_runs > {{ max_sorted_runs | int }})
  or (not is_keyed and files > 1 and small_files > {{ max_small_files | int }})
{% endtest %}

{#- The table has no more than `max_partitions` partitions. -#}
{% test partition_count(model, max_partitions=1000) %}
select * from ({{ adapter.health.sql(model, 'partition_count') }}) as health
where partitions > {{ max_partitions | int }}
{% endtest %}

{#- The table has no more than `max_files` small files, not counting a bucket's only file. -#}
{% test small_files(model, max_files=20) %}
select * from ({{ adapter.health.sql(model, 'small_files') }}) as health
where small_files > {{ max_files | int }}
{% endtest %}

{#- No table snapshot is too old, and the newest is new enough. An age of none is not checked. -#}
{% test snapshot_age(model, max_age='7 d', newest_max_age=none, retain_min=10) %}
select * from ({{ adapter.health.sql(model, 'snapshot_age') }}) as health
where false
  {%- if max_age is not none %}
  or (oldest_snapshot > {{ adapter.health.seconds(max_age, 'snapshot_age: max_age') }} and snapshots > {{ retain_min | int }})
  {%- endif %}
  {%- if newest_max_age is not none %}
  or newest_snapshot > {{ adapter.health.seconds(newest_max_age, 'snapshot_age: newest_max_age') }}
  {%- endif %}
{% endtest %}

{#- The number of table snapshots is within bounds. -#}
{% test snapshot_count(model, max_snapshots=100, min_snapshots=1) %}
select * from ({{ adapter.health.sql(model, 'snapshot_count') }}) as health
where snapshots > {{ max_snapshots | int }} or snapshots < {{ min_snapshots | int }}
{% endtest %}
