{#-
  Maintain tables by the policy in their `maintenance` config, outside of a run.

  select: a name, `tag:x`, a path, a folder or a prefix of the fully qualified name (`marts`), several separated by
  blanks, or a list; default: all tables with a policy; dry_run: only print what would be done, table by table; force:
  compact whatever the thresholds say.

  dbt run-operation maintain --args '{select: tag:nightly, dry_run: true}'
-#}
{% macro maintain(select=none, dry_run=false, force=false) %}
  {%- if execute -%}
    {%- do return(adapter.maintenance.run(graph.nodes.values() | list, select, dry_run, force)) -%}
  {%- endif -%}
{% endmacro %}
