{#- A data test: no bucket holds more than `max_skew` times the mean of its partition's buckets, including empty ones. -#}
{% test bucket_skew(model, max_skew=3, min_rows=1000) %}
select partition, bucket, row_count, mean_rows, skew
from ({{ adapter.health.sql(model, 'bucket_skew') }}) as buckets
where partition_rows >= {{ min_rows | int }} and skew > {{ max_skew | float }}
{% endtest %}
