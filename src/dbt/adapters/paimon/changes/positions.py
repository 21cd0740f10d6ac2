"""A model's positions in the tables whose changes it reads.

Each commit of a model stores its positions in the commit user (CoreOptions.createCommitUser), atomically with the rows.
But runs without rows commit nothing, and snapshots expire. So the positions table (`<model>__dbt_changes`) also stores
each position, with the snapshot of the model's table at that time. The later of the two applies.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from dbt.adapters.paimon.metadata.snapshots import Commit
from dbt.adapters.paimon.metadata.table_name import Query
from dbt.adapters.paimon.relation import PaimonRelation
from dbt.adapters.paimon.sql.helper_names import POSITIONS_SUFFIX
from dbt.adapters.paimon.sql.text import string_literal
from dbt.adapters.paimon.state.kinds import Kind, refuse_newer_mark
from dbt.adapters.paimon.state.tables import option_sql

_PREFIX: Final = Kind.READ_MARK.value
# In milliseconds (see `Position.at`).
_HALF_HOUR: Final = 1_800_000
# Paimon appends `_` and a UUID to the prefix.
_MARK: Final = re.compile(rf"{_PREFIX}((?:-[0-9a-f]{{8}}\.\d+\.[0-9a-f]{{8}})+)_")


@dataclass(frozen=True)
class Position:
    """The table snapshot up to which a source was read, with a short hash that identifies its commit."""

    snapshot: int
    commit: str

    @classmethod
    def at(cls, commit: Commit) -> Position:
        """The position after a commit."""
        # All commits of a Flink job have the same user. After a rollback, only their times differ.
        # A clock change moves the times that SQL returns, but only by whole half hours.
        return cls(commit.snapshot, short_hash(f"{commit.user} {round(commit.at * 1000) % _HALF_HOUR}"))

    def is_at(self, commit: Commit) -> bool:
        """Whether this is the position after a commit; dbt-paimon before 0.3.0 stored only the commit's user."""
        by_user = Position(commit.snapshot, short_hash(commit.user))
        return self in (Position.at(commit), by_user)


# The position before the first table snapshot.
NOTHING_READ: Final = Position(0, "00000000")


@dataclass(frozen=True)
class SavedPosition:
    """A row of the positions table: a position, and the snapshot of the model's own table at that time."""

    position: Position
    own: Position


# Marks a rebuild: the positions in older commits are no longer valid.
UNREAD: Final[Mapping[str, Position]] = {hashlib.sha256().hexdigest()[:8]: NOTHING_READ}
# Prefixes of commit users that store no positions. After an OVERWRITE of such a user, older positions are not valid.
_WITHOUT_POSITIONS: Final = (f"{Kind.KEY_MARK.value}-", f"{Kind.PROMOTION_MARK.value}-")


def positions_of(target: PaimonRelation) -> PaimonRelation:
    """The positions table of a node's table."""
    name = f"{target.identifier}{POSITIONS_SUFFIX}"
    beside: PaimonRelation = target.incorporate(path={"identifier": name}, type="table")
    return beside


def short_hash(text: str) -> str:
    """The first eight hex digits of a string's SHA-256 hash."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def mark(positions: Mapping[str, Position]) -> str:
    """The commit user prefix that stores positions, by their sources' keys (see `sources.Source.key`)."""
    return _PREFIX + "".join(f"-{key}.{at.snapshot}.{at.commit}" for key, at in sorted(positions.items()))


def marked(user: str) -> dict[str, Position]:
    """The positions that a commit user stores, by their sources' keys."""
    found = _MARK.match(user)
    if found is None:
        return {}
    entries = (entry.split(".") for entry in found[1][1:].split("-"))
    return {key: Position(int(snapshot), commit) for key, snapshot, commit in entries}


def find(key: str, own: Sequence[Commit], saved: SavedPosition | None, table: object = "The table") -> Position | None:
    """How far a model has read a source: the later of a mark in its commits and a saved position. None if unknown.

    Args:
        key: the source's key (see `sources.Source.key`).

    Returns:
        NOTHING_READ if the model's table has no commits, or was emptied after the last position.
    """
    if saved is not None and not is_in_history(saved.own, own):
        saved = None
    for commit in sorted(own, key=lambda each: -each.snapshot):
        if saved is not None and saved.own.snapshot >= commit.snapshot:
            return saved.position
        refuse_newer_mark(Kind.READ_MARK, commit.user, table)
        # A node with a key for `skip_unchanged` reads no changes. Nor does a node that a promotion writes: an
        # environment does not build models that call paimon_changes.
        if commit.kind == "OVERWRITE" and commit.user.startswith(_WITHOUT_POSITIONS):
            return None
        if (found := _in_commit(key, commit)) is not None:
            return found
        if UNREAD.keys() & marked(commit.user).keys():
            return None
    if saved is not None:
        return saved.position
    return None if own else NOTHING_READ


def _in_commit(key: str, commit: Commit) -> Position | None:
    positions = marked(commit.user)
    # The procedure that expires partitions commits without a user.
    is_delete = not commit.user or commit.user.startswith(f"{Kind.DELETE_MARK.value}_")
    empties = commit.kind == "OVERWRITE" and not commit.rows and not positions and not is_delete
    return NOTHING_READ if empties else positions.get(key)


def create_sql(kept: str) -> str:
    """The DDL of the positions table."""
    return (
        f"create table if not exists {kept} (\n"
        "  source string not null comment 'The table whose changes the model reads',\n"
        "  snapshot_id bigint comment 'The last snapshot of the source that was read',\n"
        "  commit_id string, own_snapshot_id bigint, own_commit_id string, read_at timestamp\n"
        ") using paimon tblproperties ('primary-key' = 'source', 'bucket' = '1', "
        f"{option_sql(Kind.POSITIONS)})"
    )


def is_positions_table(columns: Iterable[str]) -> bool:
    """Whether a table with these columns stores positions; dbt-paimon 0.1.0 stored no version in its options."""
    return {"source", "snapshot_id", "commit_id", "own_snapshot_id", "own_commit_id"} <= {*columns}


def saved_in(query: Query, kept: PaimonRelation) -> dict[str, SavedPosition]:
    """The rows of a positions table, by the name of the source."""
    columns = "source, snapshot_id, commit_id, own_snapshot_id, own_commit_id"
    rows = query(f"select {columns} from {kept.render()}")
    return {
        str(name): SavedPosition(Position(int(at), commit), Position(int(own), own_commit))
        for name, at, commit, own, own_commit in rows
    }


def keep_sql(kept: str, moved: Mapping[str, SavedPosition], *, replace: bool = False) -> str:
    """The statement that writes new positions, by the name of the source; `replace`: instead of all others."""
    rows = ",\n  ".join(
        f"({string_literal(name)}, {at.position.snapshot}, '{at.position.commit}', "
        f"{at.own.snapshot}, '{at.own.commit}', now())"
        for name, at in moved.items()
    )
    return f"insert {'overwrite' if replace else 'into'} {kept} values\n  {rows}"


def latest(commits: Iterable[Commit]) -> Position:
    """The position after all commits of a table."""
    newest = max(commits, key=lambda each: each.snapshot, default=None)
    return NOTHING_READ if newest is None else Position.at(newest)


def is_in_history(at: Position, own: Sequence[Commit]) -> bool:
    """Whether a commit belongs to a table's history, even if expired: no rollback or rebuild removed it."""
    if at == NOTHING_READ:
        return True
    by_number = {commit.snapshot: commit for commit in own}
    if at.snapshot in by_number:
        return at.is_at(by_number[at.snapshot])
    return bool(own) and at.snapshot < min(by_number)


def renewed(position: Position, commits: Iterable[Commit]) -> Position:
    """A position that an older dbt-paimon stored, as this one writes it, if its commit still exists."""
    return next((Position.at(commit) for commit in commits if position.is_at(commit)), position)


def lost(position: Position, commits: Sequence[Commit], reader: str) -> str:
    """Why a position in a table with these commits is no longer valid, or ''; `reader`: who has read up to it."""
    if position == NOTHING_READ or any(map(position.is_at, commits)):
        return ""
    if not commits or position.snapshot >= min(commit.snapshot for commit in commits):
        return f"the table was rolled back or recreated since {reader} read its table snapshot {position.snapshot}."
    return f"{reader} has read up to table snapshot {position.snapshot}, which has expired{available(commits)}."


def available(commits: Sequence[Commit]) -> str:
    """The end of an error message: the available table snapshots."""
    numbers = [commit.snapshot for commit in commits]
    return f" (available: {min(numbers)} to {max(numbers)})" if numbers else " (available: none)"
