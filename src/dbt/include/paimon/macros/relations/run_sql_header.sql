{#- A model's SQL header runs once, on the model's own session: what it sets holds for all that follows. -#}
{% macro paimon__run_sql_header() %}
  {%- set header = config.get('sql_header') -%}
  {%- if header -%}
    {%- call statement('sql_header') -%}{{ header }}{%- endcall -%}
  {%- endif -%}
{% endmacro %}
