{#- For tables that dbt itself builds, such as stored test failures. Models, seeds and snapshots do not use it. -#}
{% macro paimon__create_table_as(temporary, relation, compiled_code, language='sql') -%}
  {%- if temporary -%}
    {{ spark__create_temporary_view(relation, compiled_code) }}
  {%- else -%}
    {#- In an operation, the `model` of dbt's context is the macro itself, so describe the table instead. -#}
    {%- do adapter.specs.check_node(model if model.resource_type != 'macro' else {
      'resource_type': 'table', 'name': relation.identifier,
      'database': relation.database, 'schema': relation.schema, 'alias': relation.identifier,
    }) -%}
    {{ paimon__end_of_test_header() }}
create table {{ relation.render() }} using paimon as
{{ adapter.rows.typed(compiled_code) }}
  {%- endif -%}
{%- endmacro %}
