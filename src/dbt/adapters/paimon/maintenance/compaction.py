"""Compactions that sys.compact refuses, by the table's bucket mode (CompactProcedure.execute)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dbt.adapters.paimon.capabilities import Capability, Versions
from dbt.adapters.paimon.spec.table import POSTPONE_BUCKET

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dbt.adapters.paimon.spec.table import TableSpec


def compaction_problems(spec: TableSpec, arguments: Mapping[str, Any], versions: Versions) -> tuple[str, ...]:
    """Why a table cannot be compacted with these arguments, each with a remedy; empty if it can.

    Inputs: the table spec, the macro's arguments by name (None: not given), the versions.
    """
    given = {name for name, value in arguments.items() if value is not None}
    if spec.moves_keys:
        # The default branch of its `switch (bucketMode)`.
        return (
            "its primary key leaves out a partition column and bucket is -1: Paimon compacts such a table "
            "only while writing to it. Remove the call, or rebuild the table with --full-refresh.",
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
    if given & {"order_strategy", "order_by"}:
        problems.append("order_strategy: only tables without a primary key can be sorted. Leave it out.")
    return tuple(problems)
