"""The table snapshots and their commits."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from dbt.adapters.paimon.metadata.table_name import Query, Table
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.sql import clocks
from dbt.adapters.paimon.sql.text import string_literal

COMPACT: Final = "COMPACT"
# Commits that change no rows, although a compaction makes rows visible in some tables (see `table_versions`).
UPKEEP: Final = frozenset({COMPACT, "ANALYZE"})
_COMMITTED: Final = clocks.in_utc("commit_time")
# The columns that `of_rows` reads.
COLUMNS: Final = (
    *("snapshot_id", "commit_kind", "commit_user", "total_record_count", "delta_record_count", "schema_id"),
    *("changelog_record_count", clocks.epoch_millis(_COMMITTED), clocks.age_in_seconds("commit_time")),
)
# Values that together distinguish two snapshots with the same ID.
_UNIQUE: Final = "commitUser commitIdentifier commitKind timeMillis deltaManifestList schemaId".split()


@dataclass(frozen=True)
class Commit:
    """A commit to a table, and the table snapshot that it made.

    Attributes:
        snapshot: the snapshot's ID. After a rollback or a rebuild, another commit can get the same ID.
        kind: APPEND, OVERWRITE, COMPACT or ANALYZE.
        rows: how many rows the table's files contain, before merging.
        delta: `rows` minus the `rows` of the previous table snapshot.
        schema_id: the ID of the snapshot's schema.
        changelog: how many rows the commit's changelog files contain.
        at: the commit time in seconds since the epoch, by the committing process's clock.
        age: seconds between `at` and the read of this snapshot.
        unique: the ID with a fingerprint, which together are unique; '' if read by SQL.
        index: the name of the index manifest, which lists deletion vectors; '' without one, or if read by SQL.
    """

    snapshot: int
    kind: str
    user: str = ""
    rows: int = 0
    delta: int = 0
    schema_id: int | None = None
    changelog: int = 0
    at: float = 0
    age: float = field(default=0, compare=False)
    unique: str = ""
    index: str = ""

    @classmethod
    def of_json(cls, text: str) -> Commit:
        """Parse the JSON file of a snapshot."""
        content: Mapping[str, Any] = json.loads(text)
        number, at = int(content["id"]), content.get("timeMillis", 0) / 1000
        parts = ("totalRecordCount", "deltaRecordCount", "schemaId", "changelogRecordCount")
        rows, delta, schema, changelog = (int(content.get(part) or 0) for part in parts)
        unique = f"{number}.{fingerprint(json.dumps([content.get(part) for part in _UNIQUE]))}"
        kind, user, index = content["commitKind"], content["commitUser"], content.get("indexManifest") or ""
        return cls(number, kind, user, rows, delta, schema, changelog, at, time.time() - at, unique, index)

    @property
    def is_upkeep(self) -> bool:
        """Whether it changed no rows, like a compaction."""
        return self.kind in UPKEEP

    @property
    def takes_files_away(self) -> bool:
        """Whether it appended fewer rows than it removed.

        In Paimon 0.9, DELETE from a table whose merge engine is not `deduplicate` commits an APPEND that rewrites files
        without the deleted keys (DeleteFromPaimonTableCommand) [ran, 0.9.0].
        """
        return self.kind == "APPEND" and self.delta < 0


@dataclass(frozen=True)
class SnapshotRange:
    """The IDs of a table's oldest and newest snapshots; 0 for a table without snapshots."""

    first: int = 0
    last: int = 0

    @property
    def count(self) -> int:
        return self.last - self.first + 1 if self.last else 0


def fingerprint(text: str) -> str:
    """A hash of a string, as 16 hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def range_by_classes(table: Any) -> SnapshotRange:
    """The range of a table's snapshot IDs, from Paimon's Table object."""
    manager = table.snapshotManager()
    return SnapshotRange(manager.earliestSnapshotId() or 0, manager.latestSnapshotId() or 0)


def newest_first(table: Any) -> Iterator[Commit]:
    """Iterate over the commits of a table (a Table object of Paimon), newest first, reading one at a time."""
    manager, found = table.snapshotManager(), range_by_classes(table)
    for number in range(found.last, found.last - found.count, -1):
        yield Commit.of_json(manager.snapshot(number).toJson())


def by_classes(table: Any) -> tuple[Commit, ...]:
    """The commits of a table (a Table object of Paimon), oldest first."""
    return tuple(newest_first(table))[::-1]


def by_sql(query: Query, table: Table) -> tuple[Commit, ...]:
    """The commits of a table, oldest first, with one statement.

    It has no WHERE clause: later connectors fail if such a clause names snapshots that do not exist.
    """
    return of_rows(query(f"select {', '.join(COLUMNS)} from {table.system_table('snapshots')}"))


def of_rows(rows: Iterable[Sequence[Any]]) -> tuple[Commit, ...]:
    """The commits in rows of COLUMNS, whose values may be strings; oldest first."""
    return tuple(sorted(map(_of_row, rows), key=lambda commit: commit.snapshot))


def _of_row(row: Sequence[Any]) -> Commit:
    number, kind, user, *counts, at, age = row
    rows, delta, schema, changelog = (int(each or 0) for each in counts)
    return Commit(int(number), kind, user, rows, delta, schema, changelog, int(at) / 1000, float(age))


def range_by_sql(query: Query, table: Table) -> SnapshotRange:
    """The range of a table's snapshot IDs, read with a query that returns one row."""
    ((first, last),) = query(f"select min(snapshot_id), max(snapshot_id) from {table.system_table('snapshots')}")
    return SnapshotRange(int(first or 0), int(last or 0))


def newest(query: Query, table: Table) -> int | None:
    """The ID of a table's newest snapshot; None for a table without snapshots."""
    return range_by_sql(query, table).last or None


def before(query: Query, table: Table, moment: str) -> tuple[int | None, bool]:
    """The ID of the newest snapshot before `moment` (SQL for a TIMESTAMP), and whether `moment` is in the future."""
    ((found, is_in_the_future),) = query(
        f"select max(snapshot_id), {moment} > now() from {table.system_table('snapshots')} "
        f"where {_COMMITTED} < {clocks.utc(moment)}"
    )
    return found, is_in_the_future


def last_modified_sql(relations: Sequence[PaimonRelation]) -> str:
    """One statement that reads when each table's rows last changed, without opening data files.

    Compaction and ANALYZE also commit, but do not change rows. If only such commits are left, the oldest one counts,
    because it came after the last change.
    """
    changed = "max(case when commit_kind in ('APPEND', 'OVERWRITE') then commit_time end)"
    return "\nunion all\n".join(
        f"select {string_literal(relation.schema or '')} as schema, "
        f"{string_literal(relation.identifier or '')} as identifier,\n"
        f"  {clocks.in_utc(f'coalesce({changed}, min(commit_time))')} as last_modified,\n"
        f"  {clocks.now_in_utc()} as snapshotted_at\n"
        f"from {relation.system_table('snapshots')}"
        for relation in relations
    )


@dataclass(frozen=True)
class Recorded:
    """A recorded state of a table: a table snapshot, a tag or a branch.

    Attributes:
        committed: the commit time, on the session's wall clock; '' if it was not read.
        reached: whether it was committed by the given time.
    """

    name: str
    committed: str = ""
    reached: bool = False


def timed(query: Query, table: Table, moment: str | None) -> list[Recorded]:
    """The table snapshots, oldest first, compared with a time on the session's wall clock (None: all are reached)."""
    reached = "true"
    if moment is not None:
        reached = f"{_COMMITTED} <= {clocks.utc(f'timestamp {string_literal(moment)}')}"
    rows = query(
        f"select cast(snapshot_id as string), cast({clocks.in_session('commit_time')} as string), {reached} "
        f"from {table.system_table('snapshots')} order by snapshot_id"
    )
    return [Recorded(*row) for row in rows]
