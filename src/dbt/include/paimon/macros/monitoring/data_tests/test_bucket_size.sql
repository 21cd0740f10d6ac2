{#- A data test: no bucket holds more than `max_gb` GB. -#}
{% test bucket_size(model, max_gb=5) %}
select partition, bucket, row_count, byte_count
from ({{ adapter.health.sql(model, 'bucket_size') }}) as buckets
where byte_count > {{ max_gb | float }} * 1073741824
{% endtest %}
