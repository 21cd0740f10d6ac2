"""Plans the ranges of table snapshots that the micro-batches of a Paimon input read.

Each range is a small file in the stream's checkpoint, and Structured Streaming reads these files. Its file log records
which files belong to a batch, so a repeated batch has the same range. Each range begins where the previous one ends.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.paimon.changes.positions import Position
from dbt.adapters.paimon.metadata.snapshots import Commit
from dbt.adapters.paimon.streaming.hadoop_files import HadoopFolder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA: Final = "start bigint, start_commit string, end bigint, end_commit string"
SUFFIX: Final = ".json"
# Paimon's own source has more limits, but only the row limit makes sense for batches of whole table snapshots.
MAX_ROWS: Final = "read.stream.maxRowsPerTrigger"
MAX_SNAPSHOTS: Final = "maxSnapshotsPerTrigger"


@dataclass(frozen=True)
class Range:
    """The commits after `start` up to `end`; with NOTHING_READ as start, all rows at `end`."""

    start: Position
    end: Position

    @classmethod
    def of_row(cls, row: Any) -> Range:
        """A range from the content of its file, or from a row that has the columns of SCHEMA."""
        return cls(Position(row["start"], row["start_commit"]), Position(row["end"], row["end_commit"]))

    def commits_in(self, commits: Sequence[Commit]) -> list[Commit]:
        """The table's commits that are in the range."""
        return [each for each in commits if self.start.snapshot < each.snapshot <= self.end.snapshot]

    def text(self) -> str:
        """The content of the range's file."""
        start, end = self.start, self.end
        row = {"start": start.snapshot, "start_commit": start.commit, "end": end.snapshot, "end_commit": end.commit}
        return json.dumps(row)


@dataclass(frozen=True)
class Limits:
    """The limits of a batch, which consists of whole table snapshots; 0: no limit."""

    rows: int = 0
    snapshots: int = 0


class PlannedRanges:
    """The planned ranges of one input, in its stream's checkpoint."""

    def __init__(self, session: SparkSession, folder: str) -> None:
        self.folder = folder
        self._files = HadoopFolder(session, folder)

    def last(self) -> Range | None:
        """The newest range, or None."""
        names = self._names()
        return self._read(names[-1]) if names else None

    def first(self) -> Range | None:
        """The oldest range that is kept, or None."""
        for name in self._names():
            # The file may be gone: a batch that begins in the meantime removes the files of ended batches.
            if text := self._files.read(name):
                return Range.of_row(json.loads(text))
        return None

    def add(self, ranges: Sequence[Range]) -> None:
        names = self._names()
        number = int(names[-1].removesuffix(SUFFIX)) + 1 if names else 0
        for index, each in enumerate(ranges):
            self._files.write(f"{number + index:012}{SUFFIX}", each.text())

    def forget_before(self, start: Position) -> None:
        """Remove the ranges of ended batches, which end at or before the start of the current batch."""
        for name in self._names()[:-1]:
            planned = self._read(name)
            # The range of the current batch may be empty; then it ends at `start`, too.
            if planned.end.snapshot > start.snapshot or planned.start.snapshot >= start.snapshot:
                return
            self._files.delete_file(name)

    def _names(self) -> list[str]:
        return sorted(name for name in self._files.names() if name.endswith(SUFFIX) and not name.startswith("."))

    def _read(self, name: str) -> Range:
        return Range.of_row(json.loads(self._files.read(name) or ""))


def following(start: Position, commits: Sequence[Commit], limits: Limits) -> list[Range]:
    """The ranges from a position to a table's newest commit, each with at least one commit."""
    new = sorted((each for each in commits if each.snapshot > start.snapshot), key=lambda each: each.snapshot)
    at = {commit.snapshot: commit for commit in commits}
    groups: list[list[Commit]] = []
    held = 0
    for commit in new:
        written = rows_written(commit, at)
        if not groups or 0 < limits.rows < held + written or 0 < limits.snapshots <= len(groups[-1]):
            groups.append([])
            held = 0
        groups[-1].append(commit)
        held += written
    ends = [start, *(Position.at(group[-1]) for group in groups)]
    return [Range(first, last) for first, last in pairwise(ends)]


def rows_written(commit: Commit, at: Mapping[int, Commit]) -> int:
    """The approximate number of rows that a commit wrote; `at`: the table's commits by table snapshot."""
    if commit.kind == "OVERWRITE":
        return commit.rows
    before = at.get(commit.snapshot - 1)
    return abs(commit.rows - (before.rows if before else 0)) if commit.kind == "APPEND" else 0


def joined(ranges: Sequence[Range]) -> Range | None:
    """Combine consecutive ranges into one; None if there are no ranges."""
    if not ranges:
        return None
    return Range(
        min((each.start for each in ranges), key=lambda at: at.snapshot),
        max((each.end for each in ranges), key=lambda at: at.snapshot),
    )
