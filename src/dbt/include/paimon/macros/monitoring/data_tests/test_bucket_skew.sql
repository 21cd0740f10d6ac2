{#-
  A data test: no bucket holds more than `max_skew` times the mean of its partition's buckets, empty ones counted in; in
  partitions from `min_rows` rows on. One that fails asks for another bucket_key: of many values, evenly spread.
-#}
{% test bucket_skew(model, max_skew=3, min_rows=10000) %}
select partition, bucket, row_count, mean_rows, skew
from ({{ adapter.buckets_sql(model, 'bucket_skew') }}) as buckets
where partition_rows >= {{ min_rows | int }} and skew > {{ max_skew | float }}
{% endtest %}
