{#-
  All changes that a table's remaining snapshots have, with their kind, one query per commit: a query over several
  commits at once would merge their rows with Paimon 0.9. Without a table, no rows.
-#}
{% macro changes_by_commit(table) %}
{%- set existing = load_relation(table) if execute else none -%}
{%- set snapshots = [] -%}
{%- if existing is not none -%}
  {%- set system = table.include(identifier=false) ~ '.' ~ adapter.quote(table.identifier ~ '$snapshots') -%}
  {%- for row in run_query('select snapshot_id from ' ~ system ~ ' order by 1').rows -%}
    {%- do snapshots.append(row[0] | int) -%}
  {%- endfor -%}
{%- endif -%}
{%- set log = adapter.quote(table.schema) ~ '.' ~ adapter.quote(table.identifier ~ '$audit_log') -%}
{%- for snapshot in snapshots %}
    select
        {{ snapshot }} as snapshot_id,
        rowkind,
        product_id,
        stock
    from paimon_incremental_query('{{ log }}', {{ snapshot - 1 }}, {{ snapshot }})
    {{ 'union all' if not loop.last }}
{%- else %}
    select
        cast(null as bigint) as snapshot_id,
        cast(null as string) as rowkind,
        cast(null as bigint) as product_id,
        cast(null as bigint) as stock
    where false
{%- endfor -%}
{%- endmacro %}
