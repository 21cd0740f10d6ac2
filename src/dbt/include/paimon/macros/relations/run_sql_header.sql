{#- A model's SQL header runs once, in the model's own session: its settings apply to all later statements. -#}
{% macro paimon__run_sql_header() %}
  {%- set header = config.get('sql_header') -%}
  {%- if header -%}
    {%- call statement('sql_header') -%}{{ header }}{%- endcall -%}
  {%- endif -%}
{% endmacro %}
