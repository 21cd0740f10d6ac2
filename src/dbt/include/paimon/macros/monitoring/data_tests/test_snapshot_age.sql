{#- A data test: no table snapshot is too old, and the newest is new enough. Either age may be none. -#}
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
