{#-
  The keys of changed rows or groups. Without `refresh.drops`, every changed source row that still exists has a new row
  in the view. Then only the keys of deleted source rows are needed. A group NULL is left out: a table with a key cannot
  have it, and HAVING may drop it.
-#}
{% macro paimon__changed_keys_sql(refresh) -%}
{%- if refresh.groups_view -%}
select * from {{ adapter.quote(refresh.groups_view) }}
where {% for name in refresh.key %}{{ adapter.quote(name) }} is not null{{ ' and ' if not loop.last }}{% endfor %}
{%- else -%}
{%- for part in refresh.changed -%}
select {% for name in refresh.key -%}
  {{ part.branch.constants.get(name) or adapter.quote(part.branch.keys[name]) }} as {{ adapter.quote(name) }}{{ ', ' if not loop.last }}
{%- endfor %}
from {{ adapter.quote(part.view) }}{{ ' where `__dbt_gone`' if not refresh.drops }}
{{ 'union all\n' if not loop.last }}
{%- endfor -%}
{%- endif -%}
{%- endmacro %}

{#-
  Upserts and deletes as rows with their row kinds: 0 inserts, 3 deletes (see the Python module spark.row_writer). `gone`: the
  columns of a row that deletes a key.
-#}
{% macro paimon__refresh_rows_sql(refresh, plan, gone) -%}
{%- set names = paimon__quoted_columns(plan.table_columns) -%}
{%- if refresh.drops -%}
{%- set missing = '`__rows`.' ~ adapter.quote(refresh.key[0]) ~ ' is null' -%}
select {% for name in names -%}
  if({{ missing }}, {{ gone[loop.index0] }}, `__rows`.{{ name }}) as {{ name }},
{%- endfor %} cast(if({{ missing }}, 3, 0) as tinyint) as `_row_kind_`
from (
{{ paimon__changed_keys_sql(refresh) }}
) as `__changed`
left join (
  select {{ names | join(', ') }} from {{ plan.source }}
) as `__rows` on {{ paimon__same_columns('`__changed`', '`__rows`', refresh.key, '<=>') }}
{%- else -%}
select {{ names | join(', ') }}, cast(0 as tinyint) as `_row_kind_`
from {{ plan.source }}
union all
select {{ gone | join(', ') }}, cast(3 as tinyint)
from (
{{ paimon__changed_keys_sql(refresh) }}
) as `__changed`
{%- endif -%}
{%- endmacro %}

{#-
  The same refresh as a MERGE, because row kinds cannot be written through a Spark server. The MERGE reads the whole
  table. `rows`: the view of the rows above.
-#}
{% macro paimon__refresh_merge_sql(target, refresh, plan, rows) -%}
{%- set names = paimon__quoted_columns(plan.table_columns) -%}
merge into {{ target.render() }} as `__view`
using {{ adapter.quote(rows) }} as `__new`
on {{ paimon__same_columns('`__view`', '`__new`', refresh.key) }}
when matched and `__new`.`_row_kind_` = 3 then delete
when matched then update set {% for name in names %}{{ name }} = `__new`.{{ name }}{{ ', ' if not loop.last }}{% endfor %}
when not matched and `__new`.`_row_kind_` = 0 then insert ({{ names | join(', ') }})
values ({% for name in names %}`__new`.{{ name }}{{ ', ' if not loop.last }}{% endfor %})
{%- endmacro %}

{#- A table without a key has no upserts: all rows are rewritten, with the changed groups replaced. -#}
{% macro paimon__replaced_groups_sql(target, refresh, plan) -%}
{%- set names = paimon__quoted_columns(plan.table_columns) | join(', ') -%}
insert overwrite {{ target.render() }} ({{ names }})
select {{ names }}
from {{ plan.source }}
union all
select {{ '/*+ broadcast(`__groups`) */ ' if refresh.has_few_groups }}{{ names }}
from {{ target.render() }} as `__view`
left anti join {{ adapter.quote(refresh.groups_view) }} as `__groups` on {{ paimon__same_columns('`__view`', '`__groups`', refresh.groups, '<=>') }}
{%- endmacro %}
