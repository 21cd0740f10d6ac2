{#-
  Maintain tables by the policy that each has as `maintenance` in its config, outside of a run.

  select: a name, `tag:x`, a path, a folder or a prefix of the fully qualified name (`marts`), several with blanks
  between or a list; all tables that have a policy if it is none; dry_run: say what would be done, table by table, and
  do nothing; force: compact whatever the thresholds say.

  dbt run-operation maintain --args '{select: tag:nightly, dry_run: true}'
-#}
{% macro maintain(select=none, dry_run=false, force=false) %}
  {%- if execute -%}
    {%- do return(adapter.maintain_tables(graph.nodes.values() | list, select, dry_run, force)) -%}
  {%- endif -%}
{% endmacro %}
