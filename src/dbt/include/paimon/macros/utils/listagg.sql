{#-
  listagg in the order of `order_by_clause`, which dbt-spark ignores with a warning. Spark 3.5 has no such aggregate
  with ORDER BY, so collect the values with their sort keys and sort the array. NULL values are left out.
-#}
{% macro paimon__listagg(measure, delimiter_text, order_by_clause=none, limit_num=none) -%}
  {%- if not order_by_clause -%}
    {%- do return(spark__listagg(measure, delimiter_text, none, limit_num)) -%}
  {%- endif -%}
  {%- set distinct = modules.re.match('(?is)\\s*distinct\\b(.*)', measure) -%}
  {%- set value = distinct.group(1) if distinct else measure -%}
  {%- set keys = adapter.sort_keys(order_by_clause) -%}
  {%- set sorted -%}
    array_sort(
      collect_list({{ 'distinct ' if distinct }}case when {{ value }} is not null then struct(
        cast({{ value }} as string) as measure
        {%- for key in keys %}, {{ key.expression }} as key_{{ loop.index }}{% endfor %}
      ) end),
      (one, other) -> {{ paimon__comparison(keys) }}
    )
  {%- endset -%}
  {%- set limited = 'slice(' ~ sorted ~ ', 1, ' ~ limit_num ~ ')' if limit_num else sorted -%}
  {%- do return('array_join(transform(' ~ limited ~ ', pair -> pair.measure), ' ~ delimiter_text ~ ')') -%}
{%- endmacro %}

{#- Compare the structs `one` and `other` by key_1, key_2, …: -1, 0 or 1. -#}
{% macro paimon__comparison(keys) -%}
  case
  {%- for key in keys %}
    {%- set one = 'one.key_' ~ loop.index %}
    {%- set other = 'other.key_' ~ loop.index %}
    when {{ one }} is null and {{ other }} is not null then {{ -1 if key.nulls_first else 1 }}
    when {{ one }} is not null and {{ other }} is null then {{ 1 if key.nulls_first else -1 }}
    when {{ one }} < {{ other }} then {{ 1 if key.descending else -1 }}
    when {{ one }} > {{ other }} then {{ -1 if key.descending else 1 }}
  {%- endfor %}
    else 0
  end
{%- endmacro %}
