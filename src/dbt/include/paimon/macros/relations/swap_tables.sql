{#-
  Rename a complete staged table to the name of the table that it replaces, and drop the old one.

  Atomic where the catalog allows it (adapter.builds.exchange); else two renames, between which the name is missing: a
  run that is killed there leaves both tables complete, and the next one finishes the swap.
-#}
{% macro paimon__swap_tables(staging, target) %}
  {%- if adapter.builds.exchange(staging, target) -%}
    {%- do adapter.drop_relation(staging) -%}
  {%- else -%}
    {%- set backup = make_backup_relation(target, 'table') -%}
    {%- do adapter.rename_relation(target, backup) -%}
    {%- do adapter.rename_relation(staging, target) -%}
    {%- do adapter.drop_relation(backup) -%}
  {%- endif -%}
{% endmacro %}
