"""What a statement committed, from the table's snapshots, without reading data files.

With an embedded Spark, Paimon's own classes read the snapshot and its delta manifests, without a Spark job. On a
server, one query reads `$snapshots`, which has no file counts.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.paimon.metadata import row_kinds, snapshots
from dbt.adapters.paimon.metadata.classes import deleting_rows, manifest_entries, paimon_table
from dbt.adapters.paimon.metadata.snapshots import COMPACT, Commit

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dbt.adapters.paimon.metadata.table_name import Query, TableName

# The prefix of a statement's commit user, to which Paimon appends `_` and a UUID (CoreOptions.createCommitUser).
COMMIT_USER_CONF: Final = "spark.paimon.commit.user-prefix"
# Each manifest entry takes up to nine calls into the JVM, about a millisecond at worst.
_MAX_FILES: Final = 1000
# Seconds by which the committing process's clock may be behind.
_CLOCK_SKEW: Final = 2


@dataclass(frozen=True)
class Committed:
    """One commit of a table; None where unknown.

    Attributes:
        rows: rows in added data files.
        rows_deleted: the rows among `rows` that delete a key.
        files: added data files.
        growth: rows in added files minus rows in removed files.
        rows_inserted: rows with a new key, or all rows of a table without a primary key.
        rows_updated: rows with an existing key.
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
    """A unique commit user: the prefix and eight random characters."""
    return f"{prefix or 'dbt'}_{uuid.uuid4().hex[:8]}"


def by_classes(session: SparkSession, table: TableName, user: str, since: float) -> Committed | None:
    """The newest commit of a user since a time (epoch seconds), read with Paimon's own classes.

    `user` is a prefix of the commit user. Compactions are ignored. Returns None if there is no such commit.
    """
    jvm: Any = session._jvm
    table_object = paimon_table(session, table)
    after: Commit | None = None
    for commit in snapshots.newest_first(table_object):
        if commit.at < since - _CLOCK_SKEW:
            return None
        if _is_of(commit, user):
            found = with_files(jvm, table_object, commit)
            kinds = row_kinds.by_changelog(jvm, table_object, commit, after, found.rows, found.rows_deleted)
            return replace(found, rows_inserted=kinds.inserted, rows_updated=kinds.updated)
        after = commit
    return None


def with_files(jvm: Any, table: Any, commit: Commit) -> Committed:
    """A commit with the totals of its files; `table` is Paimon's Table object."""
    entries = manifest_entries(jvm, table, commit.snapshot, "DELTA")
    if entries.size() > _MAX_FILES:
        return Committed(commit.snapshot, commit.kind, _rows_of(commit))
    added: list[Any] = []
    removed: list[Any] = []
    for entry in entries:
        (added if entry.kind().toString() == "ADD" else removed).append(entry.file())
    rows = sum(file.rowCount() for file in added)
    return Committed(
        commit.snapshot,
        commit.kind,
        rows=rows,
        rows_deleted=deleting_rows(added),
        files=len(added),
        bytes=sum(file.fileSize() for file in added),
        files_removed=len(removed),
        bytes_removed=sum(file.fileSize() for file in removed),
        growth=rows - sum(file.rowCount() for file in removed),
    )


def _is_of(commit: Commit, user: str) -> bool:
    return commit.user.startswith(user) and commit.kind != COMPACT


def by_sql(query: Query, table: TableName, user: str, whole: bool) -> Committed | None:
    """The newest commit of a user, read with a query; None if there is no such commit.

    `user` is a prefix of the commit user. Compactions are ignored. `whole`: whether the statement replaces all rows.
    """
    for commit in reversed(snapshots.by_sql(query, table)):
        if _is_of(commit, user):
            rows = commit.rows if whole else _rows_of(commit)
            return Committed(commit.snapshot, commit.kind, rows, growth=commit.delta)
    return None


def _rows_of(commit: Commit) -> int | None:
    # The delta of an OVERWRITE is the new rows minus the replaced rows, so the number of new rows is unknown.
    return commit.delta if commit.kind == "APPEND" else None
