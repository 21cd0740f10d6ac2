{#-
  Print, and give back as a list of dictionaries, the figures of tables: rows (before merging), files, those that a
  compaction would take up, files by level, buckets and their skew, table snapshots and their ages, the last compaction,
  tags.

  select: as that of maintain; all tables that are built if it is none.

  dbt run-operation table_health --args '{select: marts}'
-#}
{% macro table_health(select=none) %}
  {%- if execute -%}
    {%- do return(adapter.table_health(graph.nodes.values() | list, select)) -%}
  {%- endif -%}
{% endmacro %}
