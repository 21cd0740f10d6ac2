{#- A data test: the number of table snapshots is within bounds. -#}
{% test snapshot_count(model, max_snapshots=100, min_snapshots=1) %}
select * from ({{ adapter.health.sql(model, 'snapshot_count') }}) as health
where snapshots > {{ max_snapshots | int }} or snapshots < {{ min_snapshots | int }}
{% endtest %}
