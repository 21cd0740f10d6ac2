{#- Run a model's SQL header once, in the model's session, so that its settings apply to all later statements. -#}
{% macro paimon__run_sql_header() %}
  {%- set header = config.get('sql_header') -%}
  {%- if header -%}
    {%- call statement('sql_header') -%}{{ header }}{%- endcall -%}
  {%- endif -%}
{% endmacro %}
