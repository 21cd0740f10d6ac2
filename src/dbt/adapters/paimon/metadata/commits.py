"""What a statement committed, by the table's snapshots, without reading data files.

An embedded Spark reads the snapshot and its delta manifests by Paimon's own classes, without a Spark job. A server
gets one query of `$snapshots`, which does not have numbers of files.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.paimon.metadata import row_kinds, snapshots
from dbt.adapters.paimon.metadata.classes import deleting_rows, manifest_entries, paimon_table
from dbt.adapters.paimon.metadata.snapshots import COMPACT, Commit

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dbt.adapters.paimon.metadata.table_name import Query, TableName

# Prefix of the commit user of a statement's snapshots; `_` and a UUID follow (CoreOptions.createCommitUser).
COMMIT_USER_CONF: Final = "spark.paimon.commit.user-prefix"
# Each entry of a manifest costs four calls into the JVM, about a millisecond at worst.
_MOST_FILES: Final = 1000
# Seconds that the clock of the committing process may be behind.
_CLOCK_SKEW: Final = 2


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


def by_classes(session: SparkSession, table: TableName, user: str, since: float) -> Committed | None:
    """The newest commit of a user since a time (epoch seconds), other than a compaction, by Paimon's own classes.

    `user` is a prefix of the commit user. Returns None if there is no such commit.
    """
    jvm: Any = session._jvm
    paimon = paimon_table(session, table)
    after: Commit | None = None
    for commit in snapshots.newest_first(paimon):
        if commit.at < since - _CLOCK_SKEW:
            return None
        if _is_of(commit, user):
            found = with_files(jvm, paimon, commit)
            kinds = row_kinds.by_changelog(jvm, paimon, commit, after, found.rows, found.rows_deleted)
            return replace(found, rows_inserted=kinds.inserted, rows_updated=kinds.updated)
        after = commit
    return None


def with_files(jvm: Any, paimon: Any, commit: Commit) -> Committed:
    """A commit with its files; `paimon` is Paimon's object of the table."""
    entries = manifest_entries(jvm, paimon, commit.snapshot, "DELTA")
    if entries.size() > _MOST_FILES:
        return Committed(commit.snapshot, commit.kind, _rows_of(commit))
    return Committed(commit.snapshot, commit.kind, **_file_counts(entries))


def _is_of(commit: Commit, user: str) -> bool:
    return commit.user.startswith(user) and commit.kind != COMPACT


def _file_counts(entries: Iterable[Any]) -> dict[str, int | None]:
    added: list[Any] = []
    removed: list[Any] = []
    for entry in entries:
        (added if entry.kind().toString() == "ADD" else removed).append(entry.file())
    rows = sum(file.rowCount() for file in added)
    return {
        "rows": rows,
        "rows_deleted": deleting_rows(added),
        "files": len(added),
        "bytes": sum(file.fileSize() for file in added),
        "files_removed": len(removed),
        "bytes_removed": sum(file.fileSize() for file in removed),
        "growth": rows - sum(file.rowCount() for file in removed),
    }


def by_sql(query: Query, table: TableName, user: str, whole: bool) -> Committed | None:
    """The newest commit of a user, other than a compaction, by a query; None if there is none.

    `user` is a prefix of the commit user. `whole`: whether the statement replaces all rows.
    """
    for commit in reversed(snapshots.by_sql(query, table)):
        if _is_of(commit, user):
            rows = commit.rows if whole else _rows_of(commit)
            return Committed(commit.snapshot, commit.kind, rows, growth=commit.delta)
    return None


def _rows_of(commit: Commit) -> int | None:
    # The delta of an OVERWRITE has the replaced rows subtracted.
    return commit.delta if commit.kind == "APPEND" else None
