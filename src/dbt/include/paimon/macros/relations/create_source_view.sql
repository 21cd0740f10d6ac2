{#-
  The model's query (or the frame of a Python model) as a temporary view: Spark checks it before anything else happens, says which line is wrong, and
  every later statement reads the same text.
-#}
{% macro paimon__create_source_view(target, sql, language='sql') %}
  {%- set source = make_temp_relation(target) -%}
  {%- if language == 'python' -%}
    {%- do adapter.stage_python_model(source.identifier, sql, model) -%}
    {%- do return(source) -%}
  {%- endif -%}
  {%- set header = config.get('sql_header') -%}
  {%- if header -%}
    {%- call statement('sql_header') -%}{{ header }}{%- endcall -%}
  {%- endif -%}
  {%- if config.get('contract') and config.get('contract').enforced -%}
    {%- do get_assert_columns_equivalent(sql) -%}
    {%- set sql = get_select_subquery(sql) -%}
  {%- endif -%}
  {%- call statement('create_source_view') -%}
    {{ spark__create_temporary_view(source, sql) }}
  {%- endcall -%}
  {%- do return(source) -%}
{% endmacro %}

{% macro paimon__drop_source_view(source) %}
  {%- call statement('drop_source_view') -%}
    drop view if exists {{ source }}
  {%- endcall -%}
{% endmacro %}
