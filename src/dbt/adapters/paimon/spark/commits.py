"""What a statement committed, by the table's snapshots, without reading data files.

An embedded Spark reads the snapshot and its delta manifests by Paimon's own classes, without a Spark job. A server
gets one query of `$snapshots`, which does not have numbers of files.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.paimon.spark import row_kinds, table_versions
from dbt.adapters.paimon.sql.text import string_literal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dbt.adapters.paimon.spark.table_name import TableName

# Prefix of the commit user of a statement's snapshots; `_` and a UUID follow (CoreOptions.createCommitUser).
COMMIT_USER_CONF: Final = "spark.paimon.commit.user-prefix"
_COMPACT: Final = "COMPACT"
# Each entry of a manifest costs four calls into the JVM, about a millisecond at worst.
_MOST_FILES: Final = 1000
# Milliseconds that the clock of the committing process may be behind.
_CLOCK_SKEW: Final = 2000


@dataclass(frozen=True)
class Committed:
    """One commit of a table; None where unknown.

    Attributes:
        rows: rows in added data files.
        rows_deleted: those of `rows` that delete a key.
        files: added data files.
        growth: rows in added files minus rows in removed files.
        rows_inserted: new keys, or rows of a table without keys.
        rows_updated: keys that existed before.
    """

    snapshot_id: int
    kind: str
    rows: int | None = None
    rows_deleted: int | None = None
    files: int | None = None
    bytes: int | None = None
    files_removed: int | None = None
    bytes_removed: int | None = None
    growth: int | None = None
    rows_inserted: int | None = None
    rows_updated: int | None = None


def own_user(prefix: str) -> str:
    """A commit user that no other statement has: the prefix and eight random characters."""
    return f"{prefix or 'dbt'}_{uuid.uuid4().hex[:8]}"


def by_jvm(session: SparkSession, table: TableName, user: str, since: float) -> Committed | None:
    """The newest commit of a user since a time (epoch seconds), other than a compaction, by Paimon's own classes.

    `user` is a prefix of the commit user. Returns None if there is no such commit.
    """
    jvm: Any = session._jvm
    paimon = table_versions.paimon_table(session, table)
    snapshots = paimon.snapshotManager()
    snapshot = _newest(snapshots, user, since * 1000 - _CLOCK_SKEW)
    if snapshot is None:
        return None
    found = of_snapshot(jvm, paimon, snapshot)
    kinds = row_kinds.by_changelog(jvm, paimon, snapshots, snapshot, found.rows, found.rows_deleted)
    return replace(found, rows_inserted=kinds.inserted, rows_updated=kinds.updated)


def of_snapshot(jvm: Any, paimon: Any, snapshot: Any) -> Committed:
    """The commit of a table snapshot; `paimon` and `snapshot` are Paimon's own objects."""
    delta = jvm.org.apache.paimon.table.source.ScanMode.DELTA
    entries = paimon.store().newScan().withSnapshot(snapshot.id()).withKind(delta).plan().files()
    kind = snapshot.commitKind().toString()
    if entries.size() > _MOST_FILES:
        return Committed(snapshot.id(), kind, _rows_of(kind, snapshot.deltaRecordCount()))
    return Committed(snapshot.id(), kind, **_file_counts(entries))


def _newest(snapshots: Any, user: str, since: float) -> Any:
    for number in reversed(table_versions.snapshot_numbers(snapshots)):
        snapshot = snapshots.snapshot(number)
        if snapshot.timeMillis() < since:
            return None
        if snapshot.commitUser().startswith(user) and snapshot.commitKind().toString() != _COMPACT:
            return snapshot
    return None


def _file_counts(entries: Iterable[Any]) -> dict[str, int | None]:
    added: list[Any] = []
    removed: list[Any] = []
    for entry in entries:
        (added if entry.kind().toString() == "ADD" else removed).append(entry.file())
    rows = sum(file.rowCount() for file in added)
    deletes = [file.deleteRowCount() for file in added]
    return {
        "rows": rows,
        "rows_deleted": sum(each.get() for each in deletes)
        if all(each.isPresent() for each in deletes)
        else None,
        "files": len(added),
        "bytes": sum(file.fileSize() for file in added),
        "files_removed": len(removed),
        "bytes_removed": sum(file.fileSize() for file in removed),
        "growth": rows - sum(file.rowCount() for file in removed),
    }


def by_sql(rows_of: Callable[[str], list[Any]], table: TableName, user: str, whole: bool) -> Committed | None:
    """The newest commit of a user, other than a compaction, by a query; None if there is none.

    `user` is a prefix of the commit user. `whole`: whether the statement replaces all rows.
    """
    found = rows_of(
        "select snapshot_id, commit_kind, delta_record_count, total_record_count "
        f"from {table.system_table('snapshots')} "
        f"where commit_kind <> '{_COMPACT}' and startswith(commit_user, {string_literal(user)}) "
        "order by snapshot_id desc limit 1"
    )
    if not found:
        return None
    number, kind, delta, total = found[0]
    return Committed(number, kind, total if whole else _rows_of(kind, delta), growth=delta)


def _rows_of(kind: str, delta: int | None) -> int | None:
    # The delta of an OVERWRITE has the replaced rows subtracted.
    return delta if kind == "APPEND" else None
