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
  Whether a column has one of these values, in quotes. They are compared as text, as by IN; numbers with digits after the point also as
  numbers, because 0.00 is not the text 0.
-#}
{% macro paimon__is_one_of(column, values) -%}
{%- set literals = [] -%}
{%- set numbers = [] -%}
{%- for value in values -%}
  {%- do literals.append(adapter.string_literal(value | string | lower if value is boolean else value)) -%}
  {%- do numbers.append('try_cast(' ~ literals[-1] ~ ' as decimal(38, 18))') -%}
{%- endfor -%}
(
  cast({{ column }} as string) in ({{ literals | join(', ') }})
  or coalesce(
    typeof({{ column }}) rlike '^(decimal|double|float)' and try_cast({{ column }} as decimal(38, 18)) in ({{ numbers | join(', ') }}), false
  )
)
{%- endmacro %}
