{#- The column list of a CREATE TABLE: types, NOT NULL and comments of `wanted_columns`. -#}
{% macro paimon__columns_ddl(columns) -%}
  {%- for column in columns %}
  {{ adapter.quote(column.name) }} {{ column.data_type }}
    {%- if not column.nullable %} not null{% endif %}
    {%- if column.comment %} comment {{ adapter.string_literal(column.comment) }}{% endif %}
    {{- ',' if not loop.last }}
  {%- endfor %}
{%- endmacro %}
