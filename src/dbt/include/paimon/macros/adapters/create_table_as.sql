{#-
  For tables that dbt itself builds, such as stored test failures, and for models whose materialization is of the project or a
  package. The adapter's own materializations do not use it.
-#}
{% macro paimon__create_table_as(temporary, relation, compiled_code, language='sql') -%}
  {%- set ours = ('dynamic_table', 'incremental', 'materialized_view', 'streaming', 'table', 'view') -%}
  {%- set is_of_other = model.resource_type == 'model' and model.config.materialized not in ours -%}
  {%- if language != 'sql' -%}
    {%- do adapter.specs.refuse('python', model) -%}
  {%- elif temporary -%}
    {{ spark__create_temporary_view(relation, compiled_code) }}
  {%- elif is_of_other and relation.identifier in (this.identifier, this.identifier ~ '__dbt_tmp') -%}
    {{ paimon__create_model_as(relation, adapter.plans.created(model, paimon__model_query(relation, compiled_code))) }}
  {%- else -%}
    {#- In an operation, the `model` of dbt's context is the macro itself, so describe the table instead. -#}
    {%- if is_of_other and (config.get('primary_key') or config.get('partition_by')) -%}
      {#- `adapter.rename_relation` does not know the model, so a later rename to its name cannot be refused. -#}
      {%- do exceptions.warn(
        "model '" ~ model.name ~ "': the materialization '" ~ model.config.materialized ~ "' creates " ~ relation
        ~ " without the model's primary_key, partition_by and options. If it gives this table the model's name later, name it "
        ~ 'make_intermediate_relation(this), without a suffix.'
      ) -%}
    {%- endif -%}
    {%- do adapter.specs.check_node(model if model.resource_type != 'macro' else {
      'resource_type': 'table', 'name': relation.identifier,
      'database': relation.database, 'schema': relation.schema, 'alias': relation.identifier,
    }) -%}
    {{ paimon__end_of_test_header() }}
create table {{ relation.render() }} using paimon as
{{ adapter.rows.typed(compiled_code) }}
  {%- endif -%}
{%- endmacro %}

{#- plan: see `Plans.created`. -#}
{% macro paimon__create_model_as(relation, plan) -%}
create table {{ relation.render() }}
using paimon
{{- paimon__table_clauses(plan.spec, model.description if config.persist_relation_docs() else '') }}
as select * from {{ plan.source }}
{%- endmacro %}
