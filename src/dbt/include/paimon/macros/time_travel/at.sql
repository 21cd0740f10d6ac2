{#-
  A table at an earlier state, for FROM: `select * from {{ at(ref('orders'), tag='2024-06-30') }}`.

  relation: the relation that ref() or source() returns; then exactly one of
  snapshot: the number of a table snapshot; tag: a name; timestamp: a date, a timestamp or its text, in the session's
  time zone: the state at that time; branch: a name: the branch's current state.
-#}
{% macro at(relation, snapshot=none, tag=none, timestamp=none, branch=none) %}
  {%- do return(adapter.history.at(relation, {
    'snapshot': snapshot,
    'tag': tag,
    'timestamp': timestamp,
    'branch': branch
  }, model)) -%}
{% endmacro %}
