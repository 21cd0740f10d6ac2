{#-
  The CALL of a Paimon procedure, for a hook. With `dbt run-operation`, runs it, prints its result and returns ''.

  name: see the Python module sql.procedures; relation: a relation or a name (see named_relation.sql); arguments: those
  that are none are left out.
-#}
{% macro paimon__call_procedure(name, relation, arguments) -%}
  {%- if not execute -%}{%- do return('') -%}{%- endif -%}
  {%- do return(adapter.operations.call(model, name, paimon__named_relation(relation), arguments)) -%}
{%- endmacro %}
