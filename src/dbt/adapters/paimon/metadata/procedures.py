"""What a procedure did to a table: the table snapshots before and after it, and the commits in between."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.paimon.metadata import snapshots
from dbt.adapters.paimon.metadata.classes import paimon_table
from dbt.adapters.paimon.metadata.commits import Committed, with_files
from dbt.adapters.paimon.metadata.snapshots import SnapshotRange

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dbt.adapters.paimon.metadata.table_name import Query, TableName

# The number of commits to read; a procedure makes one or two.
_MAX_COMMITS: Final = 20


@dataclass(frozen=True)
class ProcedureResult:
    """The table snapshots before and after a procedure, and the commits in between, oldest first."""

    before: SnapshotRange
    after: SnapshotRange
    commits: tuple[Committed, ...] = ()

    @property
    def expired(self) -> int:
        """How many of the oldest table snapshots were removed."""
        if not self.before.last:
            return 0
        return max(0, min(self.after.first, self.before.last + 1) - self.before.first)

    @property
    def rolled_back(self) -> int:
        """How many of the newest table snapshots were removed."""
        return max(0, self.before.last - self.after.last)


def effect_by_classes(session: SparkSession, table: TableName, before: SnapshotRange) -> ProcedureResult:
    """The changes to a table since it had the snapshots `before`, read with Paimon's own classes."""
    jvm: Any = session._jvm
    paimon = paimon_table(session, table)
    news = takewhile(lambda commit: commit.snapshot > before.last, snapshots.newest_first(paimon))
    found = [with_files(jvm, paimon, commit) for commit in islice(news, _MAX_COMMITS)]
    return ProcedureResult(before, snapshots.range_by_classes(paimon), tuple(reversed(found)))


def effect_by_sql(query: Query, table: TableName, before: SnapshotRange) -> ProcedureResult:
    """The changes to a table since it had the snapshots `before`, read with a query, without file counts."""
    commits = snapshots.by_sql(query, table)
    news = tuple(Committed(each.snapshot, each.kind) for each in commits if each.snapshot > before.last)
    after = SnapshotRange(commits[0].snapshot, commits[-1].snapshot) if commits else SnapshotRange()
    return ProcedureResult(before, after, news[-_MAX_COMMITS:])
