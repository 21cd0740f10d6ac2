{#-
  Delete the rows of a table that meet a condition. Runs its statements itself, also in a hook. Refused in a model's query,
  because `dbt compile` would delete the rows, too.
-#}
{% macro delete_rows(relation, where) -%}
  {%- if not execute -%}{%- do return('') -%}{%- endif -%}
  {%- if model.resource_type in ('model', 'snapshot', 'analysis', 'test') and not model.compiled -%}
    {%- do exceptions.raise_compiler_error('delete_rows belongs in a hook or an operation, not in a query.') -%}
  {%- endif -%}
  {%- do adapter.operations.delete_rows(paimon__named_relation(relation), where) -%}
  {%- do return('') -%}
{%- endmacro %}
