{#-
  Give a table that was built whole the name of the one it replaces, which goes.

  In one step where the catalog can (adapter.exchange_tables); else in two renames, between which the name is missing: a
  run that dies there leaves both tables whole, and the next one finishes the swap.
-#}
{% macro paimon__swap_tables(staging, target) %}
  {%- if adapter.exchange_tables(staging, target) -%}
    {%- do adapter.drop_relation(staging) -%}
  {%- else -%}
    {%- set backup = make_backup_relation(target, 'table') -%}
    {%- do adapter.rename_relation(target, backup) -%}
    {%- do adapter.rename_relation(staging, target) -%}
    {%- do adapter.drop_relation(backup) -%}
  {%- endif -%}
{% endmacro %}
