{#-
  The CALL of a Paimon procedure, for a hook; with `dbt run-operation`, where no model is being built, it is run and its
  result is printed.

  name: see the Python module sql.procedures; relation: a relation, or a name (`table`, `schema.table`,
  `catalog.schema.table`, or the name of a model, seed or snapshot); arguments: typed; none is left out.
-#}
{% macro paimon__call_procedure(name, relation, arguments) -%}
  {%- if not execute -%}{%- do return('') -%}{%- endif -%}
  {%- do return(adapter.operations.call(model, name, paimon__named_relation(relation), arguments)) -%}
{%- endmacro %}
