{#-
  The model's query for the statements of its materialization (see the Python module writing.model_query), or the data frame
  of a Python model. Spark analyzes it first, to report errors with their line.
-#}
{% macro paimon__model_query(target, sql, language='sql') %}
  {%- if language == 'python' -%}
    {%- set view = make_temp_relation(target).identifier -%}
    {%- set query = adapter.rows.of_python_model(view, sql, model) -%}
    {%- do adapter.rows.check_limit(model, 'select * from ' ~ query) -%}
    {%- do return(query) -%}
  {%- endif -%}
  {%- do paimon__run_sql_header() -%}
  {%- if config.get('contract') and config.get('contract').enforced -%}
    {%- do get_assert_columns_equivalent(sql) -%}
    {#- Called only so that dbt warns about constraints that Paimon does not support. -#}
    {%- do adapter.render_raw_columns_constraints(raw_columns=model['columns']) -%}
    {%- do adapter.render_raw_model_constraints(raw_constraints=model['constraints']) -%}
    {%- set sql = get_select_subquery(sql) -%}
  {%- endif -%}
  {%- set query = adapter.rows.of_model(model, sql) -%}
  {%- do adapter.rows.check_limit(model, sql) -%}
  {%- do return(query) -%}
{% endmacro %}

{#- Drop the temporary view of a model's rows. -#}
{% macro paimon__drop_staged(query) %}
  {%- if query.view -%}
    {%- call statement('drop_staged') -%}
      drop view if exists {{ adapter.quote(query.view) }}
    {%- endcall -%}
  {%- endif -%}
{% endmacro %}
