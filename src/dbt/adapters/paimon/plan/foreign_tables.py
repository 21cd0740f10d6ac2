"""Tables of models whose materialization is of the project or a package, and calls dbt's `create_table_as`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dbt.adapters.paimon.column import SIZED
from dbt.adapters.paimon.spec.problems import Problems
from dbt.adapters.paimon.spec.table import TableSpec, lower_names
from dbt.adapters.paimon.tables.existing import ExistingColumn


def refuse_unread(node: Mapping[str, Any], spec: TableSpec, columns: Sequence[ExistingColumn]) -> None:
    """Refuse config that such a materialization would ignore; raises ConfigErrors with all problems."""
    problems, config = Problems(node["name"]), node["config"]
    remedy = "Remove it, or use materialized='table'"
    # Only runs of the adapter's own materializations audit, tag, and set options after a rename.
    for key, given in (("wap", spec.wap), ("table_tag", spec.tag), ("iceberg", spec.late_options)):
        if given:
            reason = f"the materialization '{config['materialized']}' does not read it. {remedy}"
            problems.add(key, config.get(key), reason)
    # The adapter itself makes these columns NOT NULL.
    ours = lower_names((*spec.primary_key, *spec.partition_by, spec.options.get("record-level.time-field", "")))
    for column in columns:
        if not column.nullable and column.name.lower() not in ours:
            problems.add(f"columns.{column.name}", "not null", f"CREATE TABLE AS cannot declare it. {remedy}")
        if SIZED.match(column.data_type.lower()):
            problems.add(f"columns.{column.name}", column.data_type, f"CREATE TABLE AS makes it a string. {remedy}")
    problems.raise_if_any()


def warnings(node: Mapping[str, Any], spec: TableSpec) -> Sequence[str]:
    """Warnings about config that has no effect on such a table, but may come from a folder."""
    if spec.maintenance is None or spec.maintenance.is_empty:
        return ()
    kind = node["config"]["materialized"]
    return (
        f"model '{node['name']}': maintenance: only models of dbt's own materializations are maintained, not '{kind}'",
    )
