{#-
  A subquery with the rows of a table that were committed since this model's last successful run (see the Python module
  changes.positions), or with the changes between two given table snapshots.
-#}
{% macro paimon_changes(relation, row_kind='_row_kind', snapshot_column=none, before=false, on_expired='error', keep=false,
    from_snapshot=none, to_snapshot=none) -%}
  {%- do paimon__require_relation('paimon_changes', relation) -%}
  {%- if execute and model.resource_type != 'unit_test' -%}
    {%- set sql = adapter.plans.changes_sql(
      model, this, relation, builds=paimon__builds_now(), full_refresh=should_full_refresh(),
      between=(from_snapshot, to_snapshot), on_expired=on_expired, keep=keep, row_kind=row_kind,
      snapshot_column=snapshot_column, before=before
    ) -%}
    {%- if sql -%}
      {%- do return(sql) -%}
    {%- endif -%}
  {%- endif -%}
  {#- The result at parse time, in a unit test, and if the table does not exist. -#}
  {%- set sql -%}
(
select *, '+I' as {{ adapter.quote(row_kind) }}
{%- if snapshot_column %}, cast(0 as bigint) as {{ adapter.quote(snapshot_column) }}{% endif %}
from {{ relation }}
)
  {%- endset -%}
  {%- do return(sql) -%}
{%- endmacro %}
