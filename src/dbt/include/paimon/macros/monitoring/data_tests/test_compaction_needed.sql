{#- A data test: no bucket has too many sorted runs, which every reader merges, or too many small files. -#}
{% test compaction_needed(model, max_sorted_runs=5, max_small_files=50) %}
select partition, bucket, files, small_files, sorted_runs
from ({{ adapter.health.sql(model, 'compaction_needed') }}) as buckets
where (is_keyed and sorted_runs > {{ max_sorted_runs | int }})
  or (not is_keyed and files > 1 and small_files > {{ max_small_files | int }})
{% endtest %}
