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

{#- As in this adapter's accepted_values. -#}
{% macro paimon__test_not_accepted_values(model, column_name, values, quote=True) -%}
  {%- if not quote -%}
    {{ dbt_utils.default__test_not_accepted_values(model, column_name, values, quote=False) }}
  {%- else -%}
select distinct {{ column_name }} as value_field
from {{ model }}
where {{ paimon__is_one_of(column_name, values) }}
  {%- endif -%}
{%- endmacro %}

{#- dbt_utils joins by all columns, which loses rows with a NULL. -#}
{% macro paimon__deduplicate(relation, partition_by, order_by) -%}
select __dbt_row.*
from (
  select
    struct(__dbt_all.*) as __dbt_row,
    row_number() over (partition by {{ partition_by }} order by {{ order_by }}) as __dbt_number
  from {{ relation }} as __dbt_all
) as __dbt_numbered
where __dbt_number = 1
{%- endmacro %}

{#- dbt_utils takes the first relation's type of a column, into which Spark casts larger numbers without an error. -#}
{% macro paimon__union_relations(relations, column_override=none, include=[], exclude=[], source_column_name='_dbt_source_relation', where=none) -%}
  {%- set override = dict(column_override or {}) -%}
  {%- if execute -%}
    {%- set types = {} -%}
    {%- for relation in relations -%}
      {%- for column in adapter.get_columns_in_relation(relation) -%}
        {%- do types.setdefault(column.column, {}).update({column.data_type: 'cast(null as ' ~ column.data_type ~ ')'}) -%}
      {%- endfor -%}
    {%- endfor -%}
    {%- for name, nulls in types.items() if nulls | length > 1 and name not in override -%}
      {%- set sql = 'select typeof(coalesce(' ~ nulls.values() | join(', ') ~ '))' -%}
      {%- do override.update({name: run_query(sql).columns[0].values()[0]}) -%}
    {%- endfor -%}
  {%- endif -%}
  {{ return(dbt_utils.default__union_relations(relations, override, include, exclude, source_column_name, where)) }}
{%- endmacro %}

{#- dbt_utils gives other buckets if the minimum is not 0, and below the minimum. -#}
{% macro paimon__width_bucket(expr, min_value, max_value, num_buckets) -%}
width_bucket({{ expr }}, {{ min_value }}, {{ max_value }}, {{ num_buckets }})
{%- endmacro %}
