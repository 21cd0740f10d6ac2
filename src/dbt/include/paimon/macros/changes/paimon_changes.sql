{#-
  The rows of a table that were committed since this model's last successful run, as a subquery after FROM:

    select flight_id, status, _row_kind from {{ paimon_changes(ref('int_flight_status')) }}

  relation: what ref() or source() gives, a Paimon table.
  row_kind: the name of the column that says what happened: `+I` inserted, `+U` changed (its new row), `-D` deleted.
  snapshot_column: the name of a further column, the table snapshot up to which this run reads; a sequence of runs.
  before: also the old rows of changed keys, as `-U`, for what takes away and adds.
  on_expired: where the changes are not to be had any more (expired, rolled back, made anew, or never read like this):
    'error', or 'full' to build this model anew from the whole table.
  keep: whether a tag on the table keeps the table snapshot that this model has read from expiring.

  The first run and --full-refresh read the whole table as `+I`. docs/incremental-reads.md tells the rest.
-#}
{% macro paimon_changes(relation, row_kind='_row_kind', snapshot_column=none, before=false, on_expired='error', keep=false) -%}
  {%- if execute and model.resource_type != 'unit_test' -%}
    {%- if flags.WHICH in ('run', 'build', 'retry') -%}
      {#- What has been read must not change until it is written. -#}
      {%- do adapter.hold_table(this) -%}
    {%- endif -%}
    {%- set existing = load_cached_relation(this) -%}
    {%- set full_refresh = existing is none or not existing.is_table or should_full_refresh() -%}
    {%- set sql = adapter.changes_sql(
      model, this.incorporate(type='table'), relation, full_refresh=full_refresh, row_kind=row_kind,
      snapshot_column=snapshot_column, before=before, on_expired=on_expired, keep=keep
    ) -%}
    {%- if sql -%}
      {%- do return(sql) -%}
    {%- endif -%}
  {%- endif -%}
  {#- At parse time, in a unit test, and where the table is not built. -#}
  {%- set sql -%}
(
select *, '+I' as {{ adapter.quote(row_kind) }}
{%- if snapshot_column %}, cast(0 as bigint) as {{ adapter.quote(snapshot_column) }}{% endif %}
from {{ relation }}
)
  {%- endset -%}
  {%- do return(sql) -%}
{%- endmacro %}
