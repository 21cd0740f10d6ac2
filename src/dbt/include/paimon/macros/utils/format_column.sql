{#- A column of a contract or of its query, for dbt's comparison: in the contract's spelling, as Spark finds it in any case. -#}
{% macro paimon__format_column(column) -%}
  {%- set formatted = default__format_column(column) -%}
  {%- do formatted.update(name=paimon__spelled_as_contract([column.name])[0]) -%}
  {{ return(formatted) }}
{%- endmacro %}

{% macro paimon__spelled_as_contract(names) %}
  {%- set contract = [] -%}
  {%- for name in model['columns'] -%}{%- do contract.append(api.Column(name, '')) -%}{%- endfor -%}
  {%- do return(adapter.rows.spelled_names(names, contract)) -%}
{% endmacro %}
