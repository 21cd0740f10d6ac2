{#- A table at an earlier state, for FROM. -#}
{% macro at(relation, snapshot=none, tag=none, timestamp=none, branch=none) %}
  {%- do paimon__require_relation('at', relation) -%}
  {%- do return(adapter.history.at(relation, {
    'snapshot': snapshot,
    'tag': tag,
    'timestamp': timestamp,
    'branch': branch
  }, model)) -%}
{% endmacro %}
