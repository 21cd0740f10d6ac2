"""A table's latest snapshot, and the latest one that changed rows, read with Paimon's own classes in this process.

No Spark job runs. Only snapshots, the schema, and the manifests of commits without a change in row count are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from dbt.adapters.paimon.metadata import snapshots
from dbt.adapters.paimon.metadata.classes import manifest_entries
from dbt.adapters.paimon.metadata.snapshots import COMPACT, UPKEEP, Commit

# The position of a table without any commit.
EMPTY: Final = "0.0"
# Table classes that read exactly the newest table snapshot: no system tables, no fallback branches.
_SUPPORTED: Final = (
    "org.apache.paimon.table.AppendOnlyFileStoreTable",
    "org.apache.paimon.table.PrimaryKeyFileStoreTable",
)
# Options of a table or a read that select a snapshot other than the latest.
_OTHER_SNAPSHOT: Final = ("scan.", "incremental-between", "consumer", "branch")


@dataclass(frozen=True)
class TableVersion:
    """The version of a table's rows and schema.

    Attributes:
        head: its newest commit other than compactions and ANALYZE; None if it does not exist or has expired.
        position: the position of the newest commit that changed rows; EMPTY if there never was one; None if unknown.
        schema_json: the current schema, as Paimon's JSON.
        problem: why a read does not return the newest table snapshot's rows; '' if it does.
    """

    head: Commit | None
    position: str | None
    schema_json: str
    problem: str = ""


def table_version_of(jvm: Any, table: Any) -> TableVersion:
    """The version of a table (Paimon's object)."""
    if (kind := table.getClass().getName()) not in _SUPPORTED:
        return TableVersion(None, None, "", f"is a {kind.rpartition('.')[2]}")
    options = {str(key): str(value) for key, value in dict(table.options()).items()}
    schema = str(table.schema().toString())
    if problem := other_state(options):
        return TableVersion(None, None, schema, problem)
    return _by_commits(jvm, table, schema, UPKEEP - {COMPACT} if compaction_shows_rows(options) else UPKEEP)


def _by_commits(jvm: Any, table: Any, schema: str, ignored: frozenset[str]) -> TableVersion:
    head: Commit | None = None
    for commit in snapshots.newest_first(table):
        if commit.kind in ignored:
            continue
        head = head or (None if commit.is_upkeep else commit)
        if not _changed_nothing(jvm, table, commit):
            return TableVersion(head or _next_write(table, commit), commit.unique, schema)
    oldest = snapshots.range_by_classes(table).first
    return TableVersion(head, EMPTY if oldest <= 1 else None, schema)


def other_state(options: Mapping[str, str]) -> str:
    """Why a read of a table with these options does not return its newest table snapshot; '' if it does."""
    for name, value in options.items():
        if name.startswith(_OTHER_SNAPSHOT) and (name, value) != ("branch", "main"):
            return f"is read by its option {name}={value}"
        if name.startswith("record-level."):
            return f"drops rows by itself ({name}={value})"
    return ""


def compaction_shows_rows(options: Mapping[str, str]) -> bool:
    """Whether a table's rows become visible only by compaction (CoreOptions.batchScanSkipLevel0, postpone buckets)."""
    return (
        options.get("deletion-vectors.enabled", "").lower() == "true"
        or options.get("merge-engine") == "first-row"
        or options.get("bucket") == "-2"
    )


def _next_write(table: Any, below: Commit) -> Commit | None:
    """The newest commit that is not upkeep, at or before the commit `below`."""
    found = snapshots.newest_first(table)
    return next((each for each in found if each.snapshot <= below.snapshot and not each.is_upkeep), None)


def _changed_nothing(jvm: Any, table: Any, commit: Commit) -> bool:
    """Whether a commit changed neither files nor deletion vectors."""
    if commit.delta != 0 or commit.is_upkeep:
        return False
    manager = table.snapshotManager()
    before = ""
    if commit.snapshot > 1:
        if not manager.snapshotExists(commit.snapshot - 1):
            return False
        before = Commit.of_json(manager.snapshot(commit.snapshot - 1).toJson()).index
    return commit.index == before and bool(manifest_entries(jvm, table, commit.snapshot, "DELTA").isEmpty())
