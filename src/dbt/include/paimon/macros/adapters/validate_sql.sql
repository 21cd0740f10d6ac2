{#- EXPLAIN succeeds also for invalid SQL: its result then has the error. -#}
{% macro paimon__validate_sql(sql) -%}
  {%- call statement('validate_sql', fetch_result=True) -%}
    explain {{ sql }}
  {%- endcall -%}
  {%- set result = load_result('validate_sql') -%}
  {%- set plan = result.table.columns[0].values() | join('\n') -%}
  {%- if plan.startswith('Error occurred during query planning') -%}
    {%- do exceptions.raise_database_error(plan) -%}
  {%- endif -%}
  {{ return(result) }}
{%- endmacro %}
