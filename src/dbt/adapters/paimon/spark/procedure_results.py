"""What a procedure did to a table: its table snapshots before and after, and the commits in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.paimon.spark import table_versions
from dbt.adapters.paimon.spark.commits import Committed, of_snapshot

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dbt.adapters.paimon.spark.table_name import TableName

# Only so many of the newest commits are read: a procedure makes one or two.
_MOST_COMMITS: Final = 20


@dataclass(frozen=True)
class SnapshotRange:
    """Numbers of the oldest and newest table snapshot of a table; 0 if it has none."""

    first: int = 0
    last: int = 0

    @property
    def count(self) -> int:
        return self.last - self.first + 1 if self.last else 0


@dataclass(frozen=True)
class ProcedureResult:
    """The table snapshots before and after a procedure, and the commits in between, oldest first."""

    before: SnapshotRange
    after: SnapshotRange
    commits: tuple[Committed, ...] = ()

    @property
    def expired(self) -> int:
        """Number of table snapshots removed at the old end."""
        return max(0, min(self.after.first, self.before.last + 1) - self.before.first)

    @property
    def rolled_back(self) -> int:
        """Number of table snapshots removed at the new end."""
        return max(0, self.before.last - self.after.last)


def kept_by_jvm(session: SparkSession, table: TableName) -> SnapshotRange:
    """The table snapshots of a table, by Paimon's own classes."""
    return _range(table_versions.paimon_table(session, table).snapshotManager())


def effect_by_jvm(session: SparkSession, table: TableName, before: SnapshotRange) -> ProcedureResult:
    """The changes to a table since it had these snapshots, by Paimon's own classes."""
    jvm: Any = session._jvm
    paimon = table_versions.paimon_table(session, table)
    snapshots = paimon.snapshotManager()
    after = _range(snapshots)
    numbers = range(max(before.last + 1, after.first), after.last + 1)[-_MOST_COMMITS:]
    found = (of_snapshot(jvm, paimon, snapshots.snapshot(number)) for number in numbers)
    return ProcedureResult(before, after, tuple(found))


def _range(snapshots: Any) -> SnapshotRange:
    return SnapshotRange(snapshots.earliestSnapshotId() or 0, snapshots.latestSnapshotId() or 0)


def kept_by_sql(rows_of: Callable[[str], list[Any]], table: TableName) -> SnapshotRange:
    """The table snapshots of a table, by a query."""
    name = table.system_table("snapshots")
    ((first, last),) = rows_of(f"select min(snapshot_id), max(snapshot_id) from {name}")
    return SnapshotRange(first or 0, last or 0)


def effect_by_sql(
    rows_of: Callable[[str], list[Any]], table: TableName, before: SnapshotRange
) -> ProcedureResult:
    """The changes to a table since it had these snapshots, by a query, which does not have numbers of files."""
    name = table.system_table("snapshots")
    found = sorted(map(tuple, rows_of(f"select snapshot_id, commit_kind from {name}")))
    after = SnapshotRange(found[0][0], found[-1][0]) if found else SnapshotRange()
    news = tuple(Committed(number, kind) for number, kind in found if number > before.last)
    return ProcedureResult(before, after, news[-_MOST_COMMITS:])
