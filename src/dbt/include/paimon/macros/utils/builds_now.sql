{#-
  Whether what is compiled here will be built by this run. Not in `dbt compile` or `dbt show`; and not in an editor that
  compiles by dbt's own classes, where the command is always `run`, but no node was selected.
-#}
{% macro paimon__builds_now() %}
  {%- do return(execute and flags.WHICH in ('run', 'build', 'retry') and selected_resources | length > 0) -%}
{% endmacro %}
