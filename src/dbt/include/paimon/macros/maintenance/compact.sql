{#-
  Merge the data files of a table.

  relation: a relation or a name; partitions: a list of {column: value}, to compact only these; order_strategy: order,
  zorder or hilbert, with order_by, a column or a list of them (append tables); where: a condition on partition columns;
  options: table options for this compaction; compact_strategy: full (the default) or minor, from Paimon 1.0.
-#}
{% macro compact(
  relation, partitions=none, order_strategy=none, order_by=none, where=none, options=none, compact_strategy=none
) -%}
  {%- do return(paimon__call_procedure('compact', relation, {
    'partitions': partitions,
    'order_strategy': order_strategy,
    'order_by': order_by,
    'where': where,
    'options': options,
    'compact_strategy': compact_strategy
  })) -%}
{%- endmacro %}
