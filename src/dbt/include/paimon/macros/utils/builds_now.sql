{#-
  Whether this run builds the compiled node. False for `dbt compile` and `dbt show`, and in editors that compile with dbt's
  classes: their command is always `run`, but they select no node.
-#}
{% macro paimon__builds_now() %}
  {%- do return(execute and flags.WHICH in ('run', 'build', 'retry') and selected_resources | length > 0) -%}
{% endmacro %}
