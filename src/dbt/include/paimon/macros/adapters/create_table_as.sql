{#-
  Used where dbt itself builds a table: stored test failures and the like. Models, seeds and snapshots use
  `build_table`, which never leaves an incomplete table behind.
-#}
{% macro paimon__create_table_as(temporary, relation, compiled_code, language='sql') -%}
  {%- if temporary -%}
    {{ spark__create_temporary_view(relation, compiled_code) }}
  {%- else -%}
    {%- do adapter.specs.check_node(model) -%}
create table {{ relation.render() }} using paimon as
{{ adapter.rows.typed(compiled_code) }}
  {%- endif -%}
{%- endmacro %}
