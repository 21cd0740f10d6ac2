{#-
  Delete the rows of a table that meet a condition, in the way that is right for the table. Runs its statements itself,
  also in a hook; never while a model's query is compiled, which `dbt compile` does too.
-#}
{% macro delete_rows(relation, where) -%}
  {%- if not execute -%}{%- do return('') -%}{%- endif -%}
  {%- if model.resource_type in ('model', 'snapshot', 'analysis', 'test') and not model.compiled -%}
    {%- do exceptions.raise_compiler_error('delete_rows stands in a hook or an operation, not in a query.') -%}
  {%- endif -%}
  {%- set table = paimon__named_relation(relation) -%}
  {%- do adapter.row_deletes.run(adapter.clones.named(table) or table, where) -%}
  {%- do return('') -%}
{%- endmacro %}
