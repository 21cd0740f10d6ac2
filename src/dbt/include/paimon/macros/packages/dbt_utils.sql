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

{#-
  dbt_utils casts each column to its type in the first relation. Without ANSI mode, a larger number then becomes another number, and a text
  becomes NULL.
-#}
{% macro paimon__union_relations(relations, column_override=none, include=[], exclude=[], source_column_name='_dbt_source_relation', where=none) -%}
  {%- set override = dict(column_override or {}) -%}
  {%- set types = {} -%}
  {%- set left_out = exclude | map('lower') | list -%}
  {%- for relation in relations if execute and not relation.is_cte -%}
    {%- for column in adapter.get_columns_in_relation(relation) if column.column | lower not in left_out -%}
      {%- do types.setdefault(column.column, []).append(column.data_type) -%}
    {%- endfor -%}
  {%- endfor -%}
  {%- for name, found in types.items() if name not in override and found | unique | list | length > 1 -%}
    {%- set numbers = [] -%}
    {%- for type in found | unique if type.partition('(')[0] in ('tinyint', 'smallint', 'int', 'bigint', 'float', 'double', 'decimal') -%}
      {%- do numbers.append('cast(null as ' ~ type ~ ')') -%}
    {%- endfor -%}
    {%- if numbers | length == found | unique | list | length -%}
      {%- do override.update({name: run_query('select typeof(coalesce(' ~ numbers | join(', ') ~ '))').columns[0].values()[0]}) -%}
    {%- elif numbers and numbers | length + 1 == found | unique | list | length and 'string' in found -%}
      {%- do override.update({name: 'string'}) -%}
    {%- endif -%}
  {%- endfor -%}
  {{ return(dbt_utils.default__union_relations(relations, override, include, exclude, source_column_name, where)) }}
{%- endmacro %}

{#- dbt_utils returns a wrong bucket for values below min_value, and for values on the edge of a bucket if min_value is not 0. -#}
{% macro paimon__width_bucket(expr, min_value, max_value, num_buckets) -%}
width_bucket({{ expr }}, {{ min_value }}, {{ max_value }}, {{ num_buckets }})
{%- endmacro %}
