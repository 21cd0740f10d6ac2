{#-
  Change the table's columns to the model's as `on_schema_change` allows, and its options; returns the columns to write,
  as dbt columns. Options may refer to new columns, and those for older types come before the types change. Changes
  that are not possible have been refused by adapter.tables.check_schema_change.
-#}
{% macro paimon__sync_columns(target, on_schema_change, columns, changes, table_changes) %}
  {%- if paimon__adds_columns(on_schema_change) -%}
    {%- do paimon__add_columns(target, changes.add) -%}
  {%- endif -%}
  {%- do paimon__alter_options(target, table_changes) -%}
  {%- if on_schema_change == 'sync_all_columns' -%}
    {%- for column in changes.alter -%}
      {%- do paimon__alter_column_type(target, column.name, column.data_type) -%}
    {%- endfor -%}
    {%- do paimon__drop_not_null(target, changes.relax_to_drop) -%}
  {%- endif -%}
  {%- set skipped = [] -%}
  {%- if on_schema_change in ('ignore', 'fail') -%}
    {%- for column in changes.add -%}{%- do skipped.append(column.name) -%}{%- endfor -%}
  {%- endif -%}
  {%- set written = [] -%}
  {%- for column in columns if column.name not in skipped -%}
    {%- do written.append(api.Column(column.name, column.data_type)) -%}
  {%- endfor -%}
  {%- do return(written) -%}
{% endmacro %}

{% macro paimon__adds_columns(on_schema_change) %}
  {%- do return(on_schema_change in ('append_new_columns', 'sync_all_columns')) -%}
{% endmacro %}
