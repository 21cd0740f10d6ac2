{{ config(materialized='incremental', primary_key='id', bucket=2) }}

select id, {{ var('step', 1) }} as step from range(2000)
{% if is_incremental() %} where id < 1000 {% endif %}
