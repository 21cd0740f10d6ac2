{#-
  The CALL of a Paimon procedure, for a hook; with `dbt run-operation`, where no model is being built, it is run and its
  result is printed.

  name: see the Python module sql.procedures; relation: a relation, or a name (`table`, `schema.table`,
  `catalog.schema.table`, or the name of a model, seed or snapshot); arguments: typed; none is left out.
-#}
{% macro paimon__call_procedure(name, relation, arguments) -%}
  {%- if not execute -%}{%- do return('') -%}{%- endif -%}
  {%- set target_relation = paimon__named_relation(relation) -%}
  {%- if paimon__is_clone(name, target_relation) -%}{%- do return('') -%}{%- endif -%}
  {%- set given = {} -%}
  {%- for key, value in arguments.items() if value is not none -%}
    {%- do given.update({key: value}) -%}
  {%- endfor -%}
  {%- do return(paimon__maintenance_sql(
    name, target_relation, adapter.maintenance.call(name, target_relation, given)
  )) -%}
{%- endmacro %}


{#- Whether a name is that of a clone that is a branch: its table is maintained by its own runs, so a hook does nothing. -#}
{% macro paimon__is_clone(name, relation) %}
  {%- set branch = adapter.clones.named(relation) -%}
  {%- if branch is none -%}
    {%- do return(false) -%}
  {%- endif -%}
  {%- set why = name ~ ' on ' ~ relation ~ ': nothing is done, because it is a clone, the branch ' ~ branch -%}
  {%- if model.resource_type == 'macro' -%}
    {%- do exceptions.raise_compiler_error(why ~ '. Name that, or the table.') -%}
  {%- endif -%}
  {%- do log(why, info=true) -%}
  {%- do return(true) -%}
{% endmacro %}


{#- A statement of maintenance, for a hook; in an operation it is run, and a line says what it did; its rows are printed. -#}
{% macro paimon__maintenance_sql(name, target_relation, sql) -%}
  {#- In an operation the `model` of dbt's context is the macro itself. -#}
  {%- if model.resource_type == 'macro' -%}
    {%- set answer = adapter.maintenance.run_operation(target_relation, name, sql).table -%}
    {%- for row in answer.rows -%}
      {#- Of most procedures the one column `result`, true. -#}
      {%- for column in answer.column_names if row[column] is not sameas true -%}
        {%- do log('  ' ~ column ~ ': ' ~ row[column], info=true) -%}
      {%- endfor -%}
    {%- endfor -%}
  {%- endif -%}
  {%- do return(sql | string) -%}
{%- endmacro %}
