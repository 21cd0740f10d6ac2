{#-
  A table as it was, for FROM: `select * from {{ at(ref('orders'), tag='2024-06-30') }}`.

  relation: what ref() or source() gives; then exactly one of
  snapshot: the number of a table snapshot; tag: a name; timestamp: a date, a timestamp or their text, in the session's
  time zone: the state at that time; branch: a name: the branch as it is now.
-#}
{% macro at(relation, snapshot=none, tag=none, timestamp=none, branch=none) %}
  {%- do return(adapter.relation_at(relation, {
    'snapshot': snapshot,
    'tag': tag,
    'timestamp': timestamp,
    'branch': branch
  }, model)) -%}
{% endmacro %}
