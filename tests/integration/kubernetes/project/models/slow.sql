-- With `slowly`, each of eight tasks takes some seconds, and their rows are shuffled.
{{ config(materialized='table', primary_key='id', bucket=4) }}

{% if var('slowly', false) %}
select a.id, sum(hash(a.id, b.id)) as total
from range(0, 2000, 1, 8) as a cross join range(200000) as b
group by a.id
{% else %}
select id, id as total from range(2000)
{% endif %}
