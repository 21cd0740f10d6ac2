{#-
  Print, and return as a list of dictionaries, the health of tables: rows (before merging), files, those that a
  compaction would merge, files by level, buckets and their skew, table snapshots and their ages, the last compaction,
  tags.

  select: as for maintain; default: all tables that are built.

  dbt run-operation table_health --args '{select: marts}'
-#}
{% macro table_health(select=none) %}
  {%- if execute -%}
    {%- do return(adapter.health.report(graph.nodes.values() | list, select)) -%}
  {%- endif -%}
{% endmacro %}
