{#-
  The query of a type-2 dimension: one row per version of a key, with its interval. Rows may arrive in any order.

  An increment merges the new rows with the existing versions of their keys, and returns all versions of these keys. So a
  late version splits an existing interval. A column that the table lacks is NULL in the existing versions.
-#}
{% macro scd2(
  rows, key, columns, valid_from, order_by=none, row_kind=none, valid_from_as='valid_from', valid_to='valid_to', is_current='is_current'
) -%}
  {%- set keys = [key] if key is string else key -%}
  {%- set quoted_keys = paimon__quoted(keys) -%}
  {%- set kept = paimon__quoted(columns | list + ([order_by] if order_by and order_by not in columns else [])) -%}
  {%- set kind = adapter.quote(row_kind) if row_kind else none -%}
  {%- set from_as = adapter.quote(valid_from_as) -%}
  {%- set row = (quoted_keys + kept) | join(', ') -%}
  {%- set window = 'over (partition by ' ~ quoted_keys | join(', ') ~ ' order by ' ~ from_as ~ ')' -%}
with __dbt_new as (
  select {{ row }}, {{ adapter.quote(valid_from) }} as {{ from_as }}, 1 as __dbt_run,
    {% if kind %}{{ kind }} in ('-D', '-U'){% else %}false{% endif %} as __dbt_gone
  from {{ rows }}
),

__dbt_versions as (
  select * from __dbt_new
  {%- if is_incremental() %}
  {%- set stored = adapter.get_columns_in_relation(this) | map(attribute='quoted') | map('lower') | list %}
  union all
  select {% for name in quoted_keys + kept %}{{ 'null as ' if name | lower not in stored }}{{ name }}, {% endfor -%}
    {{ from_as }}, 0 as __dbt_run, false as __dbt_gone
  from {{ this }} as __dbt_known
  left semi join __dbt_new
    on {{ paimon__same_columns('__dbt_known', '__dbt_new', keys) }}
  {%- endif %}
),

__dbt_ranked as (
  select *, row_number() over (
    partition by {{ quoted_keys | join(', ') }}, {{ from_as }}
    order by {% if order_by %}{{ adapter.quote(order_by) }} desc, {% endif %}__dbt_run desc, __dbt_gone
  ) as __dbt_rank
  from __dbt_versions
)

select
  {{ row }},
  {{ from_as }},
  lead({{ from_as }}) {{ window }} as {{ adapter.quote(valid_to) }},
  lead({{ from_as }}) {{ window }} is null as {{ adapter.quote(is_current) }}
  {%- if kind %},
  '+I' as {{ kind }}
  {%- endif %}
from __dbt_ranked
where __dbt_rank = 1 and not __dbt_gone
{%- if kind %}
union all
select {{ row }}, {{ from_as }}, null, false, '-D'
from __dbt_ranked
where __dbt_rank = 1 and __dbt_gone
{%- endif %}
{%- endmacro %}
