{#- The statements of a plan's steps that alter a table (see the Python module plan.decide). -#}
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
        {{- paimon__literals(names) | join(', ') -}}
      )
    {%- endcall -%}
  {%- endif -%}
{% endmacro %}

{% macro paimon__add_columns(relation, columns) %}
  {%- if columns -%}
    {%- call statement('add_columns') -%}
      alter table {{ relation.render() }} add columns ({{ paimon__columns_ddl(columns) }}
      )
    {%- endcall -%}
  {%- endif -%}
{% endmacro %}

{% macro paimon__move_column(relation, name, after) %}
  {%- call statement('move_column') -%}
    alter table {{ relation.render() }} alter column {{ adapter.quote(name) }} {{ 'after ' ~ adapter.quote(after) if after else 'first' }}
  {%- endcall -%}
{% endmacro %}

{#- Calls dbt's macro, which a project may override. -#}
{% macro paimon__add_snapshot_columns(relation, columns) %}
  {%- do create_columns(relation, columns) -%}
{% endmacro %}

{% macro paimon__drop_not_null(relation, name) %}
  {%- call statement('drop_not_null') -%}
    alter table {{ relation.render() }} alter column {{ adapter.quote(name) }} drop not null
  {%- endcall -%}
{% endmacro %}

{% macro paimon__comment_on_table(relation, comment) %}
  {%- call statement('comment_on_table') -%}
    {{ paimon__alter_relation_comment(relation, comment) }}
  {%- endcall -%}
{% endmacro %}

{% macro paimon__literals(values) %}
  {%- set literals = [] -%}
  {%- for value in values -%}{%- do literals.append(adapter.string_literal(value)) -%}{%- endfor -%}
  {%- do return(literals) -%}
{% endmacro %}
