"""Checks whether sys.compact supports a table's bucket mode, and converts partition values for it."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.spec.table import POSTPONE_BUCKET
from dbt.adapters.paimon.sql.procedures import partition_literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dbt.adapters.paimon.spec.table import TableSpec
    from dbt.adapters.paimon.tables.existing import ExistingColumn


def compaction_problems(spec: TableSpec, arguments: Mapping[str, Any], versions: Versions) -> tuple[str, ...]:
    """The reasons why `compact` cannot run on a table with these arguments, each with a remedy; empty if it can."""
    given = {name for name, value in arguments.items() if value is not None}
    if spec.moves_keys:
        # CompactProcedure.execute: the default branch of `switch (bucketMode)`.
        return (
            "its primary key leaves out a partition column: Paimon compacts such a table only while writing to it. "
            "Remove the call, or add the column to primary_key and run the model with --full-refresh.",
        )
    if spec.bucket != POSTPONE_BUCKET:
        return ()
    problems = []
    if not versions.supports(Capability.COMPACT_POSTPONE_BUCKET):
        problems.append(versions.explain(Capability.COMPACT_POSTPONE_BUCKET))
    # SparkPostponeCompactProcedure.execute: "currently does not support specifying partitions".
    problems += [
        f"{name}: postpone buckets (bucket=-2) are compacted in all partitions at once. Leave it out."
        for name in ("partitions", "where", "partition_idle_time")
        if name in given
    ]
    if sorting := [name for name in ("order_strategy", "order_by") if name in given]:
        problems.append(f"{sorting[0]}: only tables without a primary key can be sorted. Leave it out.")
    return tuple(problems)


def typed_partitions(partitions: Any, columns: Sequence[ExistingColumn]) -> Any:
    """Write each partition value as a literal of its column's type.

    Invalid partitions are left unchanged, and `procedures.render` reports them.
    """
    types = {column.name.lower(): column.data_type for column in columns}
    if isinstance(partitions, dict):
        return {name: _typed(value, types.get(str(name).lower(), "")) for name, value in partitions.items()}
    if isinstance(partitions, (list, tuple)):
        return [typed_partitions(partition, columns) for partition in partitions]
    return partitions


def _typed(value: Any, data_type: str) -> Any:
    if not isinstance(value, (str, int, date)):
        return value
    text = value.strftime("%Y-%m-%d %H:%M:%S") if isinstance(value, datetime) else str(value)
    return partition_literal(text, data_type)
