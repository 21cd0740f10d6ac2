{#-
  The distinct rows of a driving table whose output may have changed: changed rows, and rows that are joined with changed
  rows. Only the key of a deleted row is used.
-#}
{% macro paimon__changed_rows_sql(part) -%}
{%- set columns = paimon__quoted(part.columns) -%}
{%- set queries = [] -%}
{%- if part.source.changes -%}
  {%- do queries.append('select ' ~ columns | join(', ')
    ~ ", `__dbt_kind` = '-D' as `__dbt_gone`\nfrom " ~ part.source.changes ~ ' as `__changed`') -%}
{%- endif -%}
{%- for source, keys in part.joined -%}
  {%- do queries.append(paimon__joined_rows_sql(part, columns, source, keys)) -%}
{%- endfor -%}
{%- if not queries -%}
select {{ columns | join(', ') }}, false as `__dbt_gone`
from {{ part.source.table.rendered }} where false
{%- elif queries | length == 1 -%}
{{ queries[0] }}
{%- else -%}
select `__row`.*
from (
  select any_value(struct({{ columns | join(', ') }}, `__dbt_gone`)) as `__row`
  from (
{{ queries | join('\nunion all\n') }}
  )
  group by {{ paimon__quoted(part.key) | join(', ') }}
)
{%- endif -%}
{%- endmacro %}

{#- The rows of a driving table that join a changed row of another table. Without the hint, Spark shuffles the driving table. -#}
{% macro paimon__joined_rows_sql(part, columns, source, keys) -%}
select {{ '/*+ broadcast(`__changed`) */ ' if source.has_few_changes }}{{ columns | join(', ') }}, false as `__dbt_gone`
from {{ part.source.at(part.source.now) }} as `__driving`
left semi join (
  select {% for key in keys %}{{ adapter.quote(key) }} as `__key_{{ loop.index }}`{{ ', ' if not loop.last }}{% endfor %}
  from {{ source.changes }}
) as `__changed` on {% for column in keys.values() -%}
  `__driving`.{{ adapter.quote(column) }} = `__changed`.`__key_{{ loop.index }}`{{ ' and ' if not loop.last }}
{%- endfor %}
{%- endmacro %}

{#- The groups of changed rows before and after the change. -#}
{% macro paimon__changed_groups_sql(refresh) -%}
{%- for sql in refresh.groups_sql -%}
select {{ 'distinct ' if loop.length == 1 }}{{ paimon__quoted(refresh.groups) | join(', ') }}
from (
{{ sql }}
)
{{ 'union\n' if not loop.last }}
{%- endfor -%}
{%- endmacro %}

{#- The join uses only grouping columns, so Spark pushes it below the aggregation, and aggregates only these groups. -#}
{% macro paimon__rows_of_groups_sql(refresh) -%}
select {{ '/*+ broadcast(`__groups`) */ ' if refresh.has_few_groups }}`__rows`.*
from (
{{ refresh.rows_sql }}
) as `__rows`
left semi join {{ adapter.quote(refresh.groups_view) }} as `__groups` on {{ paimon__same_columns('`__rows`', '`__groups`', refresh.groups, '<=>') }}
{%- endmacro %}
