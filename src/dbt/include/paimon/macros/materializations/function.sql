{#- CREATE FUNCTION of a scalar SQL function. dbt itself refuses other languages, because there is no macro for them. -#}
{% macro paimon__scalar_function_sql(target_relation) %}
  {%- do adapter.specs.check_node(model) -%}
  create or replace function {{ target_relation }} ({{ formatted_scalar_function_args_sql() }})
  returns {{ model.returns.data_type }} {{ scalar_function_volatility_sql() }}
  return {{ model.compiled_code }}
{% endmacro %}

{% macro paimon__formatted_scalar_function_args_sql() %}
  {%- for argument in model.arguments -%}
    {{ adapter.quote(argument.name) }} {{ argument.data_type }}
    {%- if argument.get('default_value') is not none %} default {{ argument.default_value }}{% endif -%}
    {{ ', ' if not loop.last }}
  {%- endfor -%}
{% endmacro %}

{% macro paimon__scalar_function_volatility_sql() %}
  {%- set volatility = model.config.get('volatility') -%}
  {%- if volatility == 'deterministic' -%}
    deterministic
  {%- elif volatility == 'non-deterministic' -%}
    not deterministic
  {%- elif volatility -%}
    {%- do unsupported_volatility_warning(volatility) -%}
  {%- endif -%}
{% endmacro %}

{#- Unlike dbt's, without grants and comments of tables. -#}
{% macro paimon__function_execute_build_sql(build_sql, existing_relation, target_relation) %}
  {%- call statement('main') -%}
    {{ build_sql }}
  {%- endcall -%}
{% endmacro %}

{% macro paimon__aggregate_function_sql(target_relation) %}
  {%- do adapter.specs.refuse('aggregate', model) -%}
{% endmacro %}
