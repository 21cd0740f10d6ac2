{#-
  A data test: no table snapshot is older than `max_age` (old ones expire), and the newest is not older than
  `newest_max_age` (the table is still written). Either may be none.
-#}
{% test snapshot_age(model, max_age='7 d', newest_max_age=none) %}
select * from ({{ adapter.health.sql(model, 'snapshot_age') }}) as health
where false
  {%- if max_age is not none %}
  or oldest_snapshot > {{ adapter.health.seconds(max_age, 'snapshot_age: max_age') }}
  {%- endif %}
  {%- if newest_max_age is not none %}
  or newest_snapshot > {{ adapter.health.seconds(newest_max_age, 'snapshot_age: newest_max_age') }}
  {%- endif %}
{% endtest %}
