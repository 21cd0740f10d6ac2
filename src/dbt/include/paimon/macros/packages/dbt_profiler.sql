{#-
  For dbt_profiler's `get_profile`: the columns and types of a relation, as rows. Paimon's catalogs do not have an
  `information_schema`. dbt finds the macros of this file by the search order of `dispatch.py` (docs/packages.md), which also
  makes the package use dbt's `type_string`.
-#}
{% macro paimon__select_from_information_schema_columns(relation) %}
  {%- for column in adapter.get_columns_in_relation(relation) %}
  {{ 'union all' if not loop.first }}
  select {{ adapter.string_literal(column.name) }} as column_name, {{ adapter.string_literal(column.dtype) }} as data_type
  {%- endfor %}
{% endmacro %}

{#- The package does not treat decimal, smallint and tinyint as numbers. -#}
{% macro paimon__is_numeric_dtype(dtype) %}
  {%- do return(dtype.startswith(('tinyint', 'smallint', 'int', 'bigint', 'float', 'double', 'decimal')) and not dtype.startswith('interval')) -%}
{% endmacro %}

{#- Treat maps like structs, because Spark cannot count distinct maps. -#}
{% macro paimon__is_struct_dtype(dtype) %}
  {%- do return((dtype | lower).startswith(('struct', 'map'))) -%}
{% endmacro %}
