{#-
  A data test: no bucket of a primary-key table has more than `max_sorted_runs` sorted runs, which every reader merges
  (Paimon's writers start to compact at 5, num-sorted-run.compaction-trigger), and no bucket of another table more than
  `max_small_files` small files.
-#}
{% test compaction_needed(model, max_sorted_runs=5, max_small_files=50) %}
select partition, bucket, files, small_files, sorted_runs
from ({{ adapter.health.buckets_sql(model, 'compaction_needed') }}) as buckets
where (is_keyed and sorted_runs > {{ max_sorted_runs | int }})
  or (not is_keyed and files > 1 and small_files > {{ max_small_files | int }})
{% endtest %}
