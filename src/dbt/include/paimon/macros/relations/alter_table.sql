{#- Applies a changed config to an existing table, before its data is written; logs each change. -#}
{% macro paimon__alter_options(relation, changes) %}
  {%- for change in changes.altered -%}
    {%- do log(relation ~ ' is altered: ' ~ change, info=true) -%}
  {%- endfor -%}
  {%- if changes.unset_first -%}
    {%- do paimon__unset_options(relation, changes.unset_options) -%}
  {%- endif -%}
  {%- do paimon__set_options(relation, changes.set_options) -%}
  {%- if not changes.unset_first -%}
    {%- do paimon__unset_options(relation, changes.unset_options) -%}
  {%- endif -%}
{% endmacro %}

{% macro paimon__set_options(relation, options) %}
  {%- if options -%}
    {%- call statement('set_options') -%}
      alter table {{ relation.render() }} set tblproperties (
        {%- for name, value in options.items() %}
        {{ adapter.string_literal(name) }} = {{ adapter.string_literal(value) }}{{ ',' if not loop.last }}
        {%- endfor %}
      )
    {%- endcall -%}
  {%- endif -%}
{% endmacro %}

{% macro paimon__unset_options(relation, names) %}
  {%- if names -%}
    {%- call statement('unset_options') -%}
      alter table {{ relation.render() }} unset tblproperties (
        {%- for name in names %}{{ adapter.string_literal(name) }}{{ ', ' if not loop.last }}{% endfor -%}
      )
    {%- endcall -%}
  {%- endif -%}
{% endmacro %}

{#- Options may refer to new columns, and those for older types come before the types change. -#}
{% macro paimon__alter_columns_and_options(relation, changes, table_changes) %}
  {%- do paimon__add_columns(relation, changes.add) -%}
  {%- do paimon__alter_options(relation, table_changes) -%}
  {%- for column in changes.retype -%}
    {%- do paimon__alter_column_type(relation, column.name, column.data_type) -%}
  {%- endfor -%}
  {%- do paimon__drop_not_null(relation, changes.relax) -%}
{% endmacro %}

{% macro paimon__add_columns(relation, columns) %}
  {%- if columns -%}
    {%- call statement('add_columns') -%}
      alter table {{ relation.render() }} add columns ({{ paimon__columns_ddl(columns) }}
      )
    {%- endcall -%}
  {%- endif -%}
{% endmacro %}

{% macro paimon__drop_not_null(relation, names) %}
  {%- for name in names -%}
    {%- call statement('drop_not_null') -%}
      alter table {{ relation.render() }} alter column {{ adapter.quote(name) }} drop not null
    {%- endcall -%}
  {%- endfor -%}
{% endmacro %}

{% macro paimon__comment_columns(relation, changes) %}
  {%- for name, comment in changes.comment -%}
    {%- do paimon__comment_on_column(relation, name, comment) -%}
  {%- endfor -%}
{% endmacro %}

{#- The table's own comment; sends nothing if it is unchanged. -#}
{% macro paimon__comment_table(relation, existing, model) %}
  {%- if config.persist_relation_docs() and existing.comment != (model.description or '') -%}
    {%- call statement('comment_on_table') -%}
      {{ paimon__alter_relation_comment(relation, model.description or '') }}
    {%- endcall -%}
  {%- endif -%}
{% endmacro %}
