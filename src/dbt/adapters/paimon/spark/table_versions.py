"""Latest snapshot and latest snapshot that changed rows of a table, by Paimon's own classes in this process.

No Spark job runs. Snapshots and the schema are read, and the manifests of commits that count no rows.
"""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dbt.adapters.paimon.spark.table_name import TableName

# Commits that change no rows; on some tables a compaction makes rows visible (see `compaction_shows_rows`).
UPKEEP: Final = frozenset({"COMPACT", "ANALYZE"})
# The position of a table without any commit.
EMPTY: Final = "0.0"
# Classes of tables whose reads are exactly their newest table snapshot: no system tables, no fallback branches.
_SUPPORTED: Final = (
    "org.apache.paimon.table.AppendOnlyFileStoreTable",
    "org.apache.paimon.table.PrimaryKeyFileStoreTable",
)
# Options of the table or the read that make a scan read another snapshot than the latest.
_OTHER_SNAPSHOT: Final = ("scan.", "incremental-between", "consumer", "branch")
_EXPIRES_ROWS: Final = "record-level."
# Values that together tell two snapshots of the same number apart.
_UNIQUE: Final = "commitUser commitIdentifier commitKind timeMillis deltaManifestList schemaId".split()
# Paimon's identifier of a batch commit (BatchWriteBuilder.COMMIT_IDENTIFIER).
BATCH: Final = 2**63 - 1


@dataclass(frozen=True)
class Snapshot:
    """A table snapshot.

    Attributes:
        number: its number, which can occur again after a rollback or in a new table.
        position: its number and a fingerprint, which together are unique.
        kind: APPEND, OVERWRITE, COMPACT or ANALYZE.
        schema: the number of its schema.
        delta: added rows minus removed rows.
        index: the name of its index manifest, which has deletion vectors; '' if there is none.
    """

    number: int
    position: str
    kind: str
    user: str
    schema: int
    delta: int | None
    index: str

    @classmethod
    def of(cls, text: str) -> Snapshot:
        """A snapshot from its JSON file."""
        content: Mapping[str, Any] = json.loads(text)
        number = int(content["id"])
        unique = fingerprint(json.dumps([content.get(part) for part in _UNIQUE]))
        return cls(
            number,
            f"{number}.{unique}",
            str(content["commitKind"]),
            str(content["commitUser"]),
            int(content["schemaId"]),
            content.get("deltaRecordCount"),
            content.get("indexManifest") or "",
        )


@dataclass(frozen=True)
class TableVersion:
    """The version of a table's rows and schema.

    Attributes:
        head: its newest commit other than a compaction; None if there is none, or it has expired.
        position: position of the newest commit that changed rows; EMPTY if there never was one; None if unknown.
        schema: the current schema, as Paimon's JSON.
        problem: why its rows are not those of its newest table snapshot; '' if they are.
    """

    head: Snapshot | None
    position: str | None
    schema: str
    problem: str = ""


def fingerprint(text: str) -> str:
    """A hash of 16 characters of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def paimon_table(session: SparkSession, name: TableName) -> Any:
    """Load Paimon's own object of a table, bypassing caches; raises if there is none."""
    jvm: Any = session._jvm
    catalogs = session._jsparkSession.sessionState().catalogManager()
    identifier = jvm.org.apache.paimon.catalog.Identifier.create(name.schema, name.identifier)
    return catalogs.catalog(name.catalog).paimonCatalog().getTable(identifier)


def table_version_of(jvm: Any, table: Any) -> TableVersion:
    """The version of a table, from Paimon's object of it."""
    if (kind := table.getClass().getName()) not in _SUPPORTED:
        return TableVersion(None, None, "", f"is a {kind.rpartition('.')[2]}")
    options = {str(key): str(value) for key, value in dict(table.options()).items()}
    schema = str(table.schema().toString())
    if problem := other_state(options):
        return TableVersion(None, None, schema, problem)
    shows_rows = compaction_shows_rows(options)
    head: Snapshot | None = None
    for snapshot in _newest_first(table.snapshotManager()):
        if snapshot.kind in UPKEEP and not (shows_rows and snapshot.kind == "COMPACT"):
            continue
        if head is None and snapshot.kind not in UPKEEP:
            head = snapshot
        if not _changed_nothing(jvm, table, snapshot):
            return TableVersion(head or _next_write(table, snapshot), snapshot.position, schema)
    oldest = table.snapshotManager().earliestSnapshotId()
    return TableVersion(head, EMPTY if oldest is None or oldest == 1 else None, schema)


def other_state(options: Mapping[str, str]) -> str:
    """Why a table with these options does not show its newest table snapshot as it is; '' if it does."""
    for name, value in options.items():
        if name.startswith(_OTHER_SNAPSHOT) and (name, value) != ("branch", "main"):
            return f"is read by its option {name}={value}"
        if name.startswith(_EXPIRES_ROWS):
            return f"drops rows by itself ({name}={value})"
    return ""


def compaction_shows_rows(options: Mapping[str, str]) -> bool:
    """Whether a table's rows become visible by compaction (CoreOptions.batchScanSkipLevel0, postpone buckets)."""
    return (
        options.get("deletion-vectors.enabled", "").lower() == "true"
        or options.get("merge-engine") == "first-row"
        or options.get("bucket") == "-2"
    )


def commits_of(table: Any) -> list[tuple[int, str, str, int | None, int | None, int]]:
    """Number, kind, user, rows, added rows and schema of each snapshot, like `changes.positions.commits_sql`."""
    found = []
    manager = table.snapshotManager()
    for number in snapshot_numbers(manager):
        content = json.loads(manager.snapshot(number).toJson())
        counts = (content.get("totalRecordCount"), content.get("deltaRecordCount"))
        names = (str(content["commitKind"]), str(content["commitUser"]))
        found.append((number, *names, *counts, int(content["schemaId"])))
    return found


def commit_nothing(jvm: Any, table: Any, mark: str) -> None:
    """Commit a table snapshot without rows; its commit user begins with `mark`."""
    commit = table.newCommit(f"{mark}_{uuid.uuid4()}").ignoreEmptyCommit(False)
    try:
        commit.commit(BATCH, jvm.java.util.ArrayList())
    finally:
        commit.close()


def snapshot_numbers(manager: Any) -> range:
    """The numbers of a table's snapshots, by Paimon's SnapshotManager."""
    newest, oldest = manager.latestSnapshotId(), manager.earliestSnapshotId()
    return range(0) if newest is None or oldest is None else range(oldest, newest + 1)


def _newest_first(manager: Any) -> Iterator[Snapshot]:
    for number in reversed(snapshot_numbers(manager)):
        yield Snapshot.of(manager.snapshot(number).toJson())


def _next_write(table: Any, below: Snapshot) -> Snapshot | None:
    """The newest commit other than upkeep, at or below a table snapshot."""
    found = _newest_first(table.snapshotManager())
    return next((each for each in found if each.number <= below.number and each.kind not in UPKEEP), None)


def _changed_nothing(jvm: Any, table: Any, snapshot: Snapshot) -> bool:
    """Whether a commit added and removed no file, and has the deletion vectors of the one before."""
    if snapshot.delta != 0 or snapshot.kind in UPKEEP:
        return False
    manager = table.snapshotManager()
    before = ""
    if snapshot.number > 1:
        if not manager.snapshotExists(snapshot.number - 1):
            return False
        before = Snapshot.of(manager.snapshot(snapshot.number - 1).toJson()).index
    if snapshot.index != before:
        return False
    delta = jvm.org.apache.paimon.table.source.ScanMode.DELTA
    scan = table.store().newScan().withSnapshot(snapshot.number).withKind(delta)
    return bool(scan.plan().files().isEmpty())
