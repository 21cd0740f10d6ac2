{#- A data test: no more than `max_files` small files that are not alone in their bucket. -#}
{% test small_files(model, max_files=20) %}
select * from ({{ adapter.health.sql(model, 'small_files') }}) as health
where small_files > {{ max_files | int }}
{% endtest %}
