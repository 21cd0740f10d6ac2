{#- Like dbt's, but with escaped literals: a quote or a backslash is part of the value. See `paimon__is_one_of`. -#}
{% macro paimon__test_accepted_values(model, column_name, values, quote=True) -%}
  {%- if not quote -%}
    {{ default__test_accepted_values(model, column_name, values, quote=False) }}
  {%- else -%}
select *
from (
  select {{ column_name }} as value_field, count(*) as n_records
  from {{ model }}
  group by {{ column_name }}
) as all_values
where not {{ paimon__is_one_of('value_field', values) }}
  {%- endif -%}
{%- endmacro %}

{#-
  Whether a column has one of these values, in quotes. `=` casts a text to the column's number or boolean, but IN would cast the
  column to text, and 0.00 is not the text 0.
-#}
{% macro paimon__is_one_of(column, values) -%}
({% for value in values %}{{ column }} = {{ adapter.string_literal(value) }}{{ ' or ' if not loop.last }}{% else %}false{% endfor %})
{%- endmacro %}
