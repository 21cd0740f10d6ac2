{#-
  For dbt_utils.get_relations_by_pattern and get_relations_by_prefix: Paimon's catalogs do not have an information_schema, so
  read dbt's cache. dbt finds the macros of this file by the search order of `dispatch.py` (docs/packages.md).
-#}
{% macro paimon__get_tables_by_pattern_sql(schema_pattern, table_pattern, exclude='', database=target.database) %}
  {%- set found = adapter.tables.relations_like(database, schema_pattern, table_pattern, exclude) -%}
  select table_schema, table_name, table_type
  from values
    {%- for relation in found %}
    ({{ adapter.string_literal(relation.schema) }}, {{ adapter.string_literal(relation.identifier) }}, '{{ relation.type }}'),
    {%- endfor %}
    (null, null, null) as listed (table_schema, table_name, table_type)
  where table_name is not null
{% endmacro %}

{#- As in this adapter's accepted_values, a quote or a backslash is part of the value. -#}
{% macro paimon__test_not_accepted_values(model, column_name, values, quote=True) -%}
  {{ dbt_utils.default__test_not_accepted_values(model, column_name, paimon__literals(values) if quote else values, quote=False) }}
{%- endmacro %}
