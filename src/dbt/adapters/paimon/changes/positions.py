"""How far a model has read the tables whose changes it reads, and where that is kept.

The position is committed with the model's rows: Paimon writes `commit.user-prefix` into the snapshot of a commit
(CoreOptions.createCommitUser), so each commit of a model says up to which table snapshot of each source its rows go. A
run that dies before the commit has moved nothing, one that dies after it has moved all.

A run whose rows are none commits nothing, and snapshots expire. So after the commit the position is also written into a
table beside the model's (`__dbt_changes`), with the snapshot of the model's table that it belongs to; of the two the
later one holds.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dbt.adapters.paimon.sql.text import string_literal

# Beside a model's table: how far it has read.
POSITIONS_SUFFIX: Final = "__dbt_changes"

COMMIT_USER_CONF: Final = "spark.paimon.commit.user-prefix"

_WORD: Final = "dbtc"
# What Paimon puts behind a prefix is `_` and a UUID.
_MARK: Final = re.compile(rf"{_WORD}((?:-[0-9a-f]{{8}}\.\d+\.[0-9a-f]{{8}})+)_")


@dataclass(frozen=True)
class Commit:
    """A table snapshot: its number, its kind (APPEND, OVERWRITE, COMPACT, ANALYZE), who made it, rows in its files."""

    snapshot: int
    kind: str
    user: str
    rows: int = 0


@dataclass(frozen=True)
class Position:
    """A table snapshot of a source up to which its rows were read; `commit` tells it from one of the same number."""

    snapshot: int
    commit: str

    @classmethod
    def at(cls, commit: Commit) -> Position:
        """The position after a commit."""
        return cls(commit.snapshot, fingerprint(commit.user))


# Before the first table snapshot.
NOTHING_READ: Final = Position(0, "00000000")


@dataclass(frozen=True)
class Checkpoint:
    """A position as the table beside the model's has it, and the snapshot of the model's own table at that time."""

    position: Position
    own: Position


def fingerprint(text: str) -> str:
    """Eight characters that stand for a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def mark(positions: Mapping[str, Position]) -> str:
    """The commit user of a model's commit: positions by the fingerprint of their source."""
    return _WORD + "".join(f"-{key}.{at.snapshot}.{at.commit}" for key, at in sorted(positions.items()))


def marked(user: str) -> dict[str, Position]:
    """The positions in a commit user; none if it is not a model's."""
    found = _MARK.match(user)
    if found is None:
        return {}
    entries = (entry.split(".") for entry in found[1][1:].split("-"))
    return {key: Position(int(snapshot), commit) for key, snapshot, commit in entries}


def find(key: str, own: Sequence[Commit], checkpoint: Checkpoint | None) -> Position | None:
    """Where a model stands in a source.

    Args:
        key: the fingerprint of the source.
        own: the snapshots of the model's own table.
        checkpoint: what was written beside it.

    Returns:
        The position that the newest of its commits and the checkpoint tells; NOTHING_READ if the table never had a
        row, or was emptied since by another than the model; None if neither tells.
    """
    if checkpoint is not None and not _still_holds(checkpoint.own, own):
        checkpoint = None
    for commit in sorted(own, key=lambda each: -each.snapshot):
        if checkpoint is not None and checkpoint.own.snapshot >= commit.snapshot:
            break
        if key in (positions := marked(commit.user)):
            return positions[key]
        if commit.kind == "OVERWRITE" and not commit.rows and not positions:
            return NOTHING_READ
    if checkpoint is not None:
        return checkpoint.position
    return None if own else NOTHING_READ


def create_sql(kept: str) -> str:
    """The table beside a model's."""
    return (
        f"create table if not exists {kept} (\n"
        "  source string not null comment 'The table whose changes the model reads',\n"
        "  snapshot_id bigint comment 'Its table snapshot up to which they are read',\n"
        "  commit_id string, own_snapshot_id bigint, own_commit_id string, read_at timestamp\n"
        ") using paimon tblproperties ('primary-key' = 'source', 'bucket' = '1')"
    )


def checkpoints_sql(kept: str) -> str:
    """The rows of it: source, and the two positions of a Checkpoint."""
    return f"select source, snapshot_id, commit_id, own_snapshot_id, own_commit_id from {kept}"


def keep_sql(kept: str, moved: Mapping[str, Checkpoint]) -> str:
    """The statement that writes where a model stands; `moved`: by the name of the source."""
    rows = ",\n  ".join(
        f"({string_literal(name)}, {at.position.snapshot}, '{at.position.commit}', "
        f"{at.own.snapshot}, '{at.own.commit}', current_timestamp())"
        for name, at in moved.items()
    )
    return f"insert into {kept} values\n  {rows}"


def latest(commits: Iterable[Commit]) -> Position:
    """The position after all commits of a table."""
    newest = max(commits, key=lambda each: each.snapshot, default=None)
    return NOTHING_READ if newest is None else Position.at(newest)


def _still_holds(at: Position, own: Sequence[Commit]) -> bool:
    """Whether a table has gone on from there: it was not rolled back behind it, nor made anew."""
    if at == NOTHING_READ:
        return True
    if not own:
        return False
    same_number = [commit for commit in own if commit.snapshot == at.snapshot]
    if same_number:
        return Position.at(same_number[0]) == at
    return at.snapshot < min(commit.snapshot for commit in own)
