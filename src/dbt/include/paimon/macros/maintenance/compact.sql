{#- Merge the data files of a table (arguments: hooks.yml). -#}
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
