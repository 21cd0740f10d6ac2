{#- The keys that a refresh deletes: of changed rows or groups that the query no longer returns. -#}
{% macro paimon__refresh_deletes_sql(refresh) -%}
{%- if refresh.deletes -%}
{%- set missing -%}
left anti join {{ adapter.quote(refresh.rows_view) }} as `__rows` on {{ paimon__same_key('`__changed`', '`__rows`', refresh.key) }}
{%- endset -%}
{%- if refresh.groups_view -%}
select `__changed`.* from {{ adapter.quote(refresh.groups_view) }} as `__changed`
{{ missing }}
{%- else -%}
{%- for part in refresh.changed -%}
select * from (
  select {% for name in refresh.key -%}
    {{ part.branch.constants.get(name) or adapter.quote(part.branch.keys[name]) }} as {{ adapter.quote(name) }}{{ ', ' if not loop.last }}
  {%- endfor %}
  from {{ adapter.quote(part.view) }}{{ ' where `__dbt_gone`' if not refresh.rows_view }}
) as `__changed`
{{ missing if refresh.rows_view }}
{{ 'union all\n' if not loop.last }}
{%- endfor -%}
{%- endif -%}
{%- endif -%}
{%- endmacro %}

{#- Upserts and deletes as rows with row kinds; `gone`: the columns of a delete row (see the Python module spark.row_writer). -#}
{% macro paimon__refresh_rows_sql(plan, deletes, gone) -%}
select {{ paimon__quoted_names(plan.table_columns) | join(', ') }}, cast(0 as tinyint) as `_row_kind_`
from {{ plan.source }}
union all
select {{ gone | join(', ') }}, cast(3 as tinyint)
from (
{{ deletes }}
)
{%- endmacro %}

{#- The same for a remote Spark, which cannot write row kinds. It reads the whole table. -#}
{% macro paimon__refresh_merge_sql(target, refresh, plan, deletes, gone) -%}
{%- set names = paimon__quoted_names(plan.table_columns) -%}
merge into {{ target.render() }} as `__view`
using (
{{ paimon__refresh_rows_sql(plan, deletes, gone) }}
) as `__new`
on {% for name in refresh.key %}`__view`.{{ adapter.quote(name) }} = `__new`.{{ adapter.quote(name) }}{{ ' and ' if not loop.last }}{% endfor %}
when matched and `__new`.`_row_kind_` = 3 then delete
when matched then update set {% for name in names %}{{ name }} = `__new`.{{ name }}{{ ', ' if not loop.last }}{% endfor %}
when not matched and `__new`.`_row_kind_` = 0 then insert ({{ names | join(', ') }})
values ({% for name in names %}`__new`.{{ name }}{{ ', ' if not loop.last }}{% endfor %})
{%- endmacro %}

{#- A table without a key has no upserts: all rows are rewritten, with the changed groups replaced. -#}
{% macro paimon__replaced_groups_sql(target, refresh, plan) -%}
{%- set names = paimon__quoted_names(plan.table_columns) | join(', ') -%}
insert overwrite {{ target.render() }} ({{ names }})
select {{ names }}
from {{ plan.source }}
union all
select /*+ broadcast(`__groups`) */ {{ names }}
from {{ target.render() }} as `__view`
left anti join {{ adapter.quote(refresh.groups_view) }} as `__groups` on {{ paimon__same_key('`__view`', '`__groups`', refresh.groups) }}
{%- endmacro %}
