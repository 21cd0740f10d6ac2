{#-
  The rows of a table that were committed since this model's last successful run, as a subquery after FROM (see the Python
  module changes.positions); or what changed between two table snapshots that it names.
-#}
{% macro paimon_changes(relation, row_kind='_row_kind', snapshot_column=none, before=false, on_expired='error', keep=false,
    from_snapshot=none, to_snapshot=none) -%}
  {%- do paimon__require_relation('paimon_changes', relation) -%}
  {%- if execute and model.resource_type != 'unit_test' -%}
    {%- if from_snapshot is not none or to_snapshot is not none -%}
      {%- set sql = adapter.changes.between_sql(
        model, relation, from_snapshot, to_snapshot, row_kind=row_kind, snapshot_column=snapshot_column, before=before
      ) -%}
    {%- else -%}
      {%- set sql = paimon__unread_changes(relation, row_kind, snapshot_column, before, on_expired, keep) -%}
    {%- endif -%}
    {%- if sql -%}
      {%- do return(sql) -%}
    {%- endif -%}
  {%- endif -%}
  {#- At parse time, in a unit test, and when the table is not built. -#}
  {%- set sql -%}
(
select *, '+I' as {{ adapter.quote(row_kind) }}
{%- if snapshot_column %}, cast(0 as bigint) as {{ adapter.quote(snapshot_column) }}{% endif %}
from {{ relation }}
)
  {%- endset -%}
  {%- do return(sql) -%}
{%- endmacro %}

{% macro paimon__unread_changes(relation, row_kind, snapshot_column, before, on_expired, keep) %}
  {%- if paimon__builds_now() -%}
    {#- What has been read must not change until it is written. -#}
    {%- do adapter.builds.hold(this) -%}
  {%- endif -%}
  {%- set existing = load_cached_relation(this) -%}
  {%- set own = this.incorporate(type='table') -%}
  {%- set kept = paimon__positions_relation(own) -%}
  {%- set clone = adapter.clones.of(model, existing, full_refresh=should_full_refresh()) -%}
  {%- if clone is not none and not clone.rebuild -%}
    {%- set own = clone.branch -%}
    {%- set full_refresh = false -%}
  {%- else -%}
    {%- set full_refresh = existing is none or not existing.is_table or should_full_refresh() -%}
  {%- endif -%}
  {%- do return(adapter.changes.sql(
    model, own, kept, relation, full_refresh=full_refresh, row_kind=row_kind,
    snapshot_column=snapshot_column, before=before, on_expired=on_expired, keep=keep
  )) -%}
{% endmacro %}
