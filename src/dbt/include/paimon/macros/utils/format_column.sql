{#- Override for dbt's contract check: spells column names as the contract does, because Spark ignores case. -#}
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

{#- A view's query, with column names spelled as in the contract; the order of the columns is unchanged. -#}
{% macro paimon__spelled_query(sql) %}
  {%- set names = get_column_schema_from_query(sql) | map(attribute='name') | list -%}
  {%- set spelled = paimon__spelled_as_contract(names) -%}
  {%- if spelled == names -%}
    {%- do return(sql) -%}
  {%- endif -%}
  {%- do return('select ' ~ paimon__quoted(spelled) | join(', ') ~ '\nfrom (\n' ~ sql ~ '\n)') -%}
{% endmacro %}
