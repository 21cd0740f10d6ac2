{#-
  Change the table's columns to the model's as `on_schema_change` allows; returns the columns to write, as dbt columns.
  Changes that are not possible have been refused by adapter.tables.check_schema_change.
-#}
{% macro paimon__sync_columns(target, on_schema_change, columns, current, changes) %}
  {%- if paimon__adds_columns(on_schema_change) and changes.add -%}
    {%- call statement('add_columns') -%}
      alter table {{ target }} add columns ({{ paimon__columns_ddl(changes.add) }}
      )
    {%- endcall -%}
  {%- endif -%}
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
