"""Paimon's `scan.mode` as ranges of table snapshots: where the first run of a stream from a Paimon table begins.

The modes are those of Paimon's streaming sources, with one difference: an expired table snapshot is refused, whereas
Paimon silently begins with the oldest one and skips the rows in between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from dbt_common.dataclass_schema import StrEnum
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.changes.positions import NOTHING_READ, Position, available, latest
from dbt.adapters.paimon.metadata.snapshots import Commit
from dbt.adapters.paimon.sql.text import string_literal
from dbt.adapters.paimon.sql.timestamps import session_moment
from dbt.adapters.paimon.streaming.sources.ranges import Range

SNAPSHOT_ID: Final = "scan.snapshot-id"
TIMESTAMP: Final = "scan.timestamp"
TIMESTAMP_MILLIS: Final = "scan.timestamp-millis"
# The options of a `stream(...)` that set where it begins.
OPTIONS: Final = (SNAPSHOT_ID, TIMESTAMP, TIMESTAMP_MILLIS)


class ScanMode(StrEnum):
    """The supported modes of Paimon: those that begin with a table snapshot."""

    FULL = "full"
    LATEST = "latest"
    FROM_SNAPSHOT = "from-snapshot"
    FROM_SNAPSHOT_FULL = "from-snapshot-full"
    FROM_TIMESTAMP = "from-timestamp"


_NEEDS: Final[Mapping[ScanMode, tuple[str, ...]]] = {
    ScanMode.FROM_SNAPSHOT: (SNAPSHOT_ID,),
    ScanMode.FROM_SNAPSHOT_FULL: (SNAPSHOT_ID,),
    ScanMode.FROM_TIMESTAMP: (TIMESTAMP, TIMESTAMP_MILLIS),
}


@dataclass(frozen=True)
class Beginning:
    """Where a first run begins.

    Attributes:
        snapshot: `scan.snapshot-id` if the mode begins with a table snapshot; else 0.
        moment: SQL of a timestamp if the mode begins with a timestamp; else empty.
    """

    mode: ScanMode = ScanMode.FULL
    snapshot: int = 0
    moment: str = ""

    @property
    def identity(self) -> str:
        """What must not change between the runs of a stream; empty for `full`."""
        if self.mode is ScanMode.FULL:
            return ""
        return " ".join(part for part in (str(self.mode), str(self.snapshot or ""), self.moment) if part)

    @property
    def is_in_the_past(self) -> bool:
        """Whether the stream begins with a past state of the table, which needs a first batch of its own."""
        return self.mode not in (ScanMode.FULL, ScanMode.LATEST)

    def first(self, commits: Sequence[Commit], earlier: int | None) -> Range:
        """The first range of the stream; `earlier`: the newest snapshot before `moment`, for `from-timestamp`.

        Raises:
            DbtRuntimeError: the table does not have a snapshot that the mode needs; the error lists the others.
        """
        if self.mode is ScanMode.FULL:
            return Range(NOTHING_READ, latest(commits))
        if self.mode is ScanMode.LATEST:
            return _nothing_before(latest(commits))
        at = {commit.snapshot: Position.at(commit) for commit in commits}
        if self.mode is ScanMode.FROM_SNAPSHOT_FULL:
            if self.snapshot not in at:
                raise DbtRuntimeError(f"there is no table snapshot {self.snapshot}{available(commits)}.")
            return Range(NOTHING_READ, at[self.snapshot])
        if self.mode is ScanMode.FROM_TIMESTAMP:
            return _changes_after(earlier or 0, at, commits)
        if self.snapshot > max(at, default=0) + 1:
            raise DbtRuntimeError(f"there is no table snapshot {self.snapshot} yet{available(commits)}.")
        return _changes_after(self.snapshot - 1, at, commits)


def beginning(scan_mode: str | None, options: Mapping[str, Any]) -> Beginning:
    """Where a `stream(...)` begins; its options may imply the mode, as in Paimon (CoreOptions.startupMode).

    Raises:
        DbtRuntimeError: an unknown mode, an option that is missing or does not fit the mode, or an invalid value.
    """
    given = [name for name in OPTIONS if name in options]
    mode = _mode(scan_mode, given)
    needed = _NEEDS.get(mode, ())
    if other := [name for name in given if name not in needed]:
        raise DbtRuntimeError(f"scan_mode='{mode}' does not use {', '.join(other)}.")
    if needed and len(given) != 1:
        raise DbtRuntimeError(f"scan_mode='{mode}' needs {' or '.join(needed)} in the options.")
    if not needed:
        return Beginning(mode)
    (name,) = given
    return _beginning_at(mode, name, str(options[name]).strip())


def _beginning_at(mode: ScanMode, name: str, text: str) -> Beginning:
    if name == TIMESTAMP:
        return Beginning(mode, moment=f"timestamp {string_literal(_moment(text).isoformat(' '))}")
    if not text.isdecimal() or not int(text):
        raise DbtRuntimeError(f"{name}='{text}' is not a number above 0.")
    if name == TIMESTAMP_MILLIS:
        return Beginning(mode, moment=f"timestamp_millis({int(text)})")
    return Beginning(mode, snapshot=int(text))


def _mode(scan_mode: str | None, given: Sequence[str]) -> ScanMode:
    # With Paimon's mode `default`, the options decide.
    if scan_mode in (None, "default"):
        if SNAPSHOT_ID in given:
            return ScanMode.FROM_SNAPSHOT
        return ScanMode.FROM_TIMESTAMP if given else ScanMode.FULL
    # `latest-full` is Paimon's newer name for `full`.
    if scan_mode == "latest-full":
        return ScanMode.FULL
    try:
        return ScanMode(scan_mode)
    except ValueError:
        raise DbtRuntimeError(
            f"scan_mode='{scan_mode}' is unknown. Use 'full' (all rows, then the changes), 'latest' (changes from now "
            f"on), 'from-snapshot' (changes from the table snapshot {SNAPSHOT_ID} on), 'from-snapshot-full' (all rows "
            f"of that table snapshot, then the changes) or 'from-timestamp' (changes from {TIMESTAMP} on)."
        ) from None


def _moment(text: str) -> datetime:
    try:
        return session_moment(text)
    except ValueError as fault:
        raise DbtRuntimeError(f"{TIMESTAMP}='{text}': {fault}") from None


def _changes_after(snapshot: int, at: Mapping[int, Position], commits: Sequence[Commit]) -> Range:
    """The first range of a stream that reads the changes after a table snapshot (0: all changes)."""
    if snapshot in at:
        return _nothing_before(at[snapshot])
    if not snapshot and 1 in at:
        return Range(NOTHING_READ, at[1])
    if not snapshot and not at:
        return _nothing_before(NOTHING_READ)
    before = f"table snapshot {snapshot}" if snapshot else "the state before"
    raise DbtRuntimeError(
        f"{before}, with which the first changes are compared, has expired{available(commits)}. Start later, or set "
        f"scan_mode='{ScanMode.FROM_SNAPSHOT_FULL}' and an available table snapshot."
    )


def _nothing_before(position: Position) -> Range:
    return Range(position, position)
