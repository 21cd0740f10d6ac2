{#- A data test: no more than `max_partitions` partitions. -#}
{% test partition_count(model, max_partitions=1000) %}
select * from ({{ adapter.health.sql(model, 'partition_count') }}) as health
where partitions > {{ max_partitions | int }}
{% endtest %}
