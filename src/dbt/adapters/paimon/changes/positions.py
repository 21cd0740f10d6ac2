"""A model's positions in the tables whose changes it reads, and where they are kept.

A position is committed together with the model's rows: Paimon writes `commit.user-prefix` into the snapshot of a commit
(CoreOptions.createCommitUser), so each commit of a model says up to which table snapshot of each source it has read.
A run that is killed before the commit has moved no position, and one killed after it has moved all of them.

A run without new rows commits nothing, and snapshots expire. So after the commit the position is also written to the
model's positions table (`<model>__dbt_changes`), together with the snapshot of the model's table at that time. The
later of the two counts.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.spark.table_versions import UPKEEP
from dbt.adapters.paimon.sql.staging_names import POSITIONS_SUFFIX
from dbt.adapters.paimon.sql.text import string_literal
from dbt.adapters.paimon.state.kinds import Kind
from dbt.adapters.paimon.state.marks import refuse_newer_mark
from dbt.adapters.paimon.state.tables import option_sql

_WORD: Final = Kind.READ_MARK.value
# Paimon appends `_` and a UUID to the prefix.
_MARK: Final = re.compile(rf"{_WORD}((?:-[0-9a-f]{{8}}\.\d+\.[0-9a-f]{{8}})+)_")


@dataclass(frozen=True)
class Commit:
    """A table snapshot: its number, kind (APPEND, OVERWRITE, COMPACT, ANALYZE), commit user, and rows in its files.

    `delta`: how many rows more its files have than those of the table snapshot before it. `schema`: the number of the
    schema that it was written with.
    """

    snapshot: int
    kind: str
    user: str
    rows: int = 0
    delta: int = 0
    schema: int | None = None

    @classmethod
    def of_row(cls, row: Sequence[Any]) -> Commit:
        """A commit from a row of `commits_sql`."""
        return cls(int(row[0]), row[1], row[2], int(row[3] or 0), int(row[4] or 0), int(row[5]))

    @property
    def is_upkeep(self) -> bool:
        """Whether it changed no rows, as a compaction does."""
        return self.kind in UPKEEP

    @property
    def takes_files_away(self) -> bool:
        """Whether it appended fewer rows than it removed.

        Spark's DELETE of Paimon 0.9 rewrites the files of tables that are not `deduplicate`, as an APPEND whose files
        do not name the deleted keys (DeleteFromPaimonTableCommand) [ran, 0.9.0].
        """
        return self.kind == "APPEND" and self.delta < 0


@dataclass(frozen=True)
class Position:
    """The table snapshot up to which a source was read; `commit` tells it from another with the same number."""

    snapshot: int
    commit: str

    @classmethod
    def at(cls, commit: Commit) -> Position:
        """The position after a commit."""
        return cls(commit.snapshot, fingerprint(commit.user))


# The position before the first table snapshot.
NOTHING_READ: Final = Position(0, "00000000")


@dataclass(frozen=True)
class SavedPosition:
    """A position as stored in the positions table, with the snapshot of the model's own table at that time."""

    position: Position
    own: Position


def commits_sql(snapshots: str) -> str:
    """The query of a table's commits; `snapshots`: the rendered name of its `$snapshots`."""
    columns = "snapshot_id, commit_kind, commit_user, total_record_count, delta_record_count, schema_id"
    return f"select {columns} from {snapshots}"


def positions_of(target: PaimonRelation) -> PaimonRelation:
    """The positions table of a node's table."""
    name = f"{target.identifier}{POSITIONS_SUFFIX}"
    beside: PaimonRelation = target.incorporate(path={"identifier": name}, type="table")
    return beside


def fingerprint(text: str) -> str:
    """A hash of eight characters of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def mark(positions: Mapping[str, Position]) -> str:
    """The commit user prefix for a model's commit: positions by the fingerprint of their source."""
    return _WORD + "".join(f"-{key}.{at.snapshot}.{at.commit}" for key, at in sorted(positions.items()))


def marked(user: str) -> dict[str, Position]:
    """The positions in a commit user, by the fingerprint of their source; empty if it has none."""
    found = _MARK.match(user)
    if found is None:
        return {}
    entries = (entry.split(".") for entry in found[1][1:].split("-"))
    return {key: Position(int(snapshot), commit) for key, snapshot, commit in entries}


def find(
    key: str, own: Sequence[Commit], saved: SavedPosition | None, table: object = "The table"
) -> Position | None:
    """A model's position in a source.

    Args:
        key: the fingerprint of the source.
        own: the snapshots of the model's own table.
        saved: the row of the positions table, if any.
        table: the model's own table, for messages.

    Returns:
        The position in the newest of the model's commits, or the saved one; NOTHING_READ if the table never had a row
        or something else has emptied it since; None if the position is unknown.

    Raises:
        NewerStateError: a newer adapter has written the position.
    """
    if saved is not None and not _still_holds(saved.own, own):
        saved = None
    for commit in sorted(own, key=lambda each: -each.snapshot):
        if saved is not None and saved.own.snapshot >= commit.snapshot:
            break
        refuse_newer_mark(Kind.READ_MARK, commit.user, table)
        if key in (positions := marked(commit.user)):
            return positions[key]
        if commit.kind == "OVERWRITE" and not commit.rows and not positions:
            return NOTHING_READ
    if saved is not None:
        return saved.position
    return None if own else NOTHING_READ


def create_sql(kept: str) -> str:
    """The DDL of the positions table."""
    return (
        f"create table if not exists {kept} (\n"
        "  source string not null comment 'The table whose changes the model reads',\n"
        "  snapshot_id bigint comment 'Its table snapshot up to which they are read',\n"
        "  commit_id string, own_snapshot_id bigint, own_commit_id string, read_at timestamp\n"
        ") using paimon tblproperties ('primary-key' = 'source', 'bucket' = '1', "
        f"{option_sql(Kind.POSITIONS)})"
    )


def saved_positions_sql(kept: str) -> str:
    """The query of the positions table's rows: the source, and the two positions of a SavedPosition."""
    return f"select source, snapshot_id, commit_id, own_snapshot_id, own_commit_id from {kept}"


def keep_sql(kept: str, moved: Mapping[str, SavedPosition]) -> str:
    """The statement that writes new positions; `moved`: by the name of the source."""
    rows = ",\n  ".join(
        f"({string_literal(name)}, {at.position.snapshot}, '{at.position.commit}', "
        f"{at.own.snapshot}, '{at.own.commit}', now())"
        for name, at in moved.items()
    )
    return f"insert into {kept} values\n  {rows}"


def latest(commits: Iterable[Commit]) -> Position:
    """The position after all commits of a table."""
    newest = max(commits, key=lambda each: each.snapshot, default=None)
    return NOTHING_READ if newest is None else Position.at(newest)


def _still_holds(at: Position, own: Sequence[Commit]) -> bool:
    """Whether a table still has the commit of a position: it was not rolled back to before it, nor recreated."""
    if at == NOTHING_READ:
        return True
    if not own:
        return False
    same_number = [commit for commit in own if commit.snapshot == at.snapshot]
    if same_number:
        return Position.at(same_number[0]) == at
    return at.snapshot < min(commit.snapshot for commit in own)
