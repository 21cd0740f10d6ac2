"""The sources that a model reads in one run, each with its range of table snapshots."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.changes.positions import (
    NOTHING_READ,
    Position,
    SavedPosition,
    find,
    lost,
    renewed,
    short_hash,
)
from dbt.adapters.paimon.changes.read_modes import Output, SourceTable
from dbt.adapters.paimon.metadata.snapshots import Commit
from dbt.adapters.paimon.relation import PaimonRelation

TAG: Final = "dbt_changes"


@dataclass(frozen=True)
class Source:
    """A source of a model in one run: the table, and the range to read."""

    relation: PaimonRelation
    table: SourceTable
    commits: tuple[Commit, ...]
    # The names of the table's tags.
    tags: tuple[str, ...]
    end: Position
    # None: the whole table is read, because the model is rebuilt.
    start: Position | None
    keep: bool = False
    # Identifies what the position is valid for, such as the query of a materialized view.
    salt: str = ""
    # The id of the table's current schema.
    schema_id: int | None = None

    @property
    def is_altered(self) -> bool:
        """Whether the table was altered after its newest table snapshot."""
        newest = max(self.commits, key=lambda commit: commit.snapshot, default=None)
        return newest is not None and self.schema_id is not None and newest.schema_id != self.schema_id

    @property
    def was_altered(self) -> bool:
        """Whether the table was altered between the start and the end of the range."""
        ends = [end for end in (self.start, self.end) if end is not None]
        return len({commit.schema_id for commit in self.commits if any(end.is_at(commit) for end in ends)}) > 1

    @property
    def position_name(self) -> str:
        """The key of the source's row in the positions table."""
        return f"{self.table.name.rendered} {self.salt}".rstrip()

    @property
    def key(self) -> str:
        """The source's key in a commit user (see `positions.mark`)."""
        return short_hash(self.position_name)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys under which a position may be stored; for a branch, including its table's key."""
        table, is_branch, _ = self.table.name.rendered.partition("$branch_")
        return (self.key, short_hash(f"{table}`")) if is_branch else (self.key,)

    def position_in(self, own: Sequence[Commit], saved: Mapping[str, SavedPosition], table: object) -> Position | None:
        """How far the source was read, by the commits and the saved positions of the model's `table` (see `find`)."""
        found = (find(key, own, saved.get(key), table) for key in self.keys)
        return next((renewed(position, self.commits) for position in found if position is not None), None)

    @property
    def start_tag(self) -> str:
        """The adapter's tag on the table snapshot where the range starts, or ''."""
        if self.start is None:
            return ""
        end = f"_{self.start.snapshot}_{self.start.commit}"
        return next((name for name in self.tags if name.startswith(TAG) and name.endswith(end)), "")

    @property
    def start_is_there(self) -> bool:
        """Whether the table snapshot where the range starts still exists."""
        return self.start is not None and any(map(self.start.is_at, self.commits))

    @property
    def written(self) -> int:
        """The number of rows that were written in the range; a row that was written twice counts twice."""
        start = self.start.snapshot if self.start is not None else 0
        appends = (commit for commit in self.commits if commit.kind == "APPEND")
        return sum(commit.delta for commit in appends if start < commit.snapshot <= self.end.snapshot)

    @property
    def most_changes(self) -> int:
        """The number of rows that may have changed in the range; an overwrite may have changed all rows."""
        start = self.start.snapshot if self.start is not None else 0
        commits = [commit for commit in self.commits if start <= commit.snapshot <= self.end.snapshot]
        overwritten = any(commit.kind == "OVERWRITE" for commit in commits if commit.snapshot > start)
        return self.written + (2 * max(commit.rows for commit in commits) if overwritten else 0)

    @property
    def lost(self) -> str:
        """Why the changes since the start of the range are lost, or ''."""
        if self.start is None:
            return (
                "it is unknown how far the model has read this table: the model's rows come from runs that did not "
                "read the table's changes."
            )
        return "" if self.start_tag else lost(self.start, self.commits, "the model")

    @property
    def gained(self) -> int:
        """The number of rows that the table gained in the range."""
        assert self.start is not None
        rows = {commit.snapshot: commit.rows for commit in self.commits}
        return rows[self.end.snapshot] - rows[self.start.snapshot]


@dataclass
class Reading:
    """What a model reads in this run."""

    # The table or branch that the model writes.
    own: PaimonRelation
    # The model's positions table, which may not exist.
    kept: PaimonRelation
    sources: dict[str, Source] = field(default_factory=dict)
    # The snapshots of the model's own table before the run; None until they are read.
    commits: tuple[Commit, ...] | None = None
    saved: dict[str, SavedPosition] = field(default_factory=dict)
    # By source: why its changes are lost, so that the model has to be rebuilt.
    lost: dict[str, str] = field(default_factory=dict)

    @property
    def last_write(self) -> Commit | None:
        """The newest commit of the model's own table that changed rows."""
        writes = [commit for commit in self.commits or () if not commit.is_upkeep]
        return max(writes, key=lambda commit: commit.snapshot, default=None)

    def moved(self, own: Position) -> dict[str, SavedPosition]:
        """The new rows of the positions table, with the newest snapshot of the model's own table."""
        return {
            source.position_name: SavedPosition(source.end, own)
            for source in self.sources.values()
            if self.saved.get(source.key) != SavedPosition(source.end, own)
        }

    def tags_to_keep(self) -> Iterator[tuple[PaimonRelation, str, int]]:
        """The tags to create for the new positions (keep=true): the source, the tag's name, the table snapshot."""
        for source in self.sources.values():
            name = _tag(self.own, source.end)
            if source.keep and source.end.snapshot and name not in source.tags:
                yield source.relation, name, source.end.snapshot

    def tags_to_drop(self) -> Iterator[tuple[PaimonRelation, str]]:
        """The tags of earlier positions: the source and the tag's name."""
        for source in self.sources.values():
            for name in source.tags:
                if name.startswith(_tag(self.own, None)) and name != _tag(self.own, source.end):
                    yield source.relation, name


def refuse_other_tables(what: str, relation: PaimonRelation, catalogs: Collection[str]) -> None:
    """Raise DbtRuntimeError if a relation is a view, or is not in one of Paimon's catalogs."""
    if relation.is_view or relation.database not in catalogs:
        raise DbtRuntimeError(
            f"{what}: it is not a Paimon table and has no table snapshots. Materialize it as a table."
        )


def between(source: Source, start: object, end: object, what: str) -> Source:
    """The source with the range after table snapshot `start` (default: before the first) up to `end` (the newest).

    Raises:
        DbtRuntimeError: `start` or `end` is not an existing table snapshot, or `start` is after `end`.
    """
    known = {0: NOTHING_READ, **{commit.snapshot: Position.at(commit) for commit in source.commits}}
    newest = max(known)
    given = (str(start or 0), str(newest if end is None else end))
    if not all(map(str.isdecimal, given)):
        raise DbtRuntimeError(
            f"{what}: from_snapshot and to_snapshot are numbers of table snapshots, not {', '.join(given)}. "
            "$snapshots lists them; $tags shows the table snapshot of each tag."
        )
    first, last = map(int, given)
    if problem := _range_problem(first, last, known):
        oldest = min(known.keys() - {0}, default=0)
        raise DbtRuntimeError(
            f"{what}: {problem} (available: {oldest} to {newest}). Correct from_snapshot and to_snapshot. "
            "snapshot_retention keeps table snapshots for longer."
        )
    commits = tuple(commit for commit in source.commits if commit.snapshot <= last)
    return replace(source, commits=commits, start=known[first], end=known[last])


def _range_problem(first: int, last: int, known: Collection[int]) -> str:
    for number in (first, last):
        if number not in known:
            return f"table snapshot {number} does not exist"
    return f"{first} is after {last}" if first > last else ""


def without_row_kind(
    table: SourceTable,
    output: Output,
    what: str,
    remedy: str = "Rename the added column with row_kind or snapshot_column.",
) -> SourceTable:
    """The table without its own row kind and sequence columns, if they have the names of the added columns.

    The table's row kind column records how its rows were written, not what changed. Raises DbtRuntimeError if another
    column has the name of an added column.
    """
    replaces = {output.row_kind.lower(): table.option("rowkind.field")}
    if output.snapshot_column:
        # With apply_changes, the row kind is the last of the sequence fields.
        replaces[output.snapshot_column.lower()] = table.option("sequence.field")
    same = [name for name, _ in table.columns if name.lower() in replaces]
    if taken := [name for name in same if name.lower() not in replaces[name.lower()].split(",")]:
        raise DbtRuntimeError(f"{what}: the table already has a column {', '.join(taken)}. {remedy}")
    return replace(table, columns=tuple(column for column in table.columns if column[0] not in same))


def _tag(own: PaimonRelation, at: Position | None) -> str:
    """The name of the tag that keeps a model's position; without a position, the prefix of all its tags."""
    prefix = f"{TAG}_{short_hash(own.render())}_"
    return prefix if at is None else f"{prefix}{at.snapshot}_{at.commit}"
