"""One refresh of a materialized view: what it reads, and what it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from dbt.adapters.paimon.metadata.table_name import TableName
from dbt.adapters.paimon.plan.materialized_views.query import Branch, Query
from dbt.adapters.paimon.plan.materialized_views.reasons import NotIncremental

# The column with the row kind in a source's changes.
KIND = "__dbt_kind"
# Spark collects a table with a broadcast hint in the driver's memory, so a larger table gets no hint.
MAX_BROADCAST: Final = 1_000_000


class RefreshKind(str, Enum):
    """What a refresh does."""

    NONE = "none"
    INCREMENTAL = "incremental"
    FULL = "full"


class Mode(str, Enum):
    """The config `refresh_mode`."""

    AUTO = "auto"
    INCREMENTAL = "incremental"
    FULL = "full"


@dataclass(frozen=True)
class View:
    """A materialized view as its model defines it, before its sources are read.

    Attributes:
        query: its analyzed query; None if its sources are unknown.
        refusal: why it always needs a full refresh; None if it does not.
        key: the primary key of its table, or empty.
        rebuilt: why a changed config requires a rewrite of the table; '' if it does not.
    """

    sql: str
    mode: Mode
    query: Query | None = None
    refusal: NotIncremental | None = None
    key: tuple[str, ...] = ()
    rebuilt: str = ""


@dataclass(frozen=True)
class PinnedSource:
    """A source with the table snapshot that a refresh reads, and that of the last refresh.

    Attributes:
        now: the id of the table snapshot to read; 0 for a table without snapshots.
        then: the id of the table snapshot that the last refresh read.
        changes: a subquery of its changed rows, with their row kind in the column KIND; '' if nothing has changed.
        only_added: whether rows were only added.
        written: the number of rows written since the last refresh; a row that was written twice counts twice.
        most: the number of rows that may have changed since the last refresh.
        unpinned: the id of a table snapshot that is read by the table's name alone, without time travel.
    """

    table: TableName
    now: int
    then: int = 0
    changes: str = ""
    only_added: bool = False
    written: int = 0
    most: int = 0
    unpinned: int | None = None

    @property
    def has_few_changes(self) -> bool:
        """Whether Spark should broadcast its changes."""
        return self.most <= MAX_BROADCAST

    def at(self, snapshot: int) -> str:
        """The table at a table snapshot, as SQL after FROM; 0 is a table without rows."""
        if not snapshot:
            return f"(select * from {self.table.rendered} where false)"
        if snapshot == self.unpinned:
            return self.table.rendered
        return f"{self.table.rendered} version as of {snapshot}"


@dataclass(frozen=True)
class ChangedRows:
    """The rows of a driving table whose output may have changed; they become a temporary view.

    Attributes:
        view: the name of the temporary view.
        source: the driving table.
        columns: the driving table's columns.
        key: its primary key; empty if only appended rows are read.
        joined: each changed table that it is joined with, and a map: key column of that table -> the driving table's
            column that it is compared with.
        branch: the branch of the query that it drives.
    """

    view: str
    source: PinnedSource
    columns: tuple[str, ...]
    key: tuple[str, ...]
    joined: tuple[tuple[PinnedSource, Mapping[str, str]], ...]
    branch: Branch


@dataclass(frozen=True)
class Refresh:
    """What a run does with a materialized view.

    Attributes:
        kind: whether it rewrites all rows, writes what has changed, or writes nothing.
        words: the reason, or how much has changed, as the console shows it.
        sql: the query to run for a full refresh.
        changed: the driving rows to recompute.
        groups_view: the name of the temporary view of the affected groups; '' if the query does not group.
        groups: the grouping columns, or empty.
        groups_sql: the queries that return the affected groups.
        rows_sql: the query that returns the recomputed rows; `groups_view` restricts it to the affected groups.
        key: the key of the view's table, or empty.
        total: the approximate number of keys or groups.
        max_rows: the number of changed driving rows above which a full refresh is cheaper; None without such a limit.
        affected: the number of keys or groups to recompute; None before they are counted.
        deletes: whether keys may have to be deleted.
        drops: whether a changed key or group may no longer have a row, and is then deleted.
        pinned: the sources with the table snapshots that it reads; empty if they are unknown.
    """

    kind: RefreshKind
    words: str = ""
    sql: str = ""
    changed: tuple[ChangedRows, ...] = ()
    groups_view: str = ""
    groups: tuple[str, ...] = ()
    groups_sql: tuple[str, ...] = ()
    rows_sql: str = ""
    key: tuple[str, ...] = ()
    total: int = 0
    max_rows: int | None = None
    affected: int | None = None
    deletes: bool = False
    drops: bool = False
    pinned: Mapping[TableName, PinnedSource] = field(default_factory=dict)

    @property
    def is_full(self) -> bool:
        """Whether it rewrites all rows."""
        return self.kind is RefreshKind.FULL

    @property
    def is_incremental(self) -> bool:
        """Whether it writes only what has changed."""
        return self.kind is RefreshKind.INCREMENTAL

    @property
    def writes_rows(self) -> bool:
        """Whether it writes any rows, once they are counted."""
        return self.is_full or bool(self.affected)

    @property
    def has_few_groups(self) -> bool:
        """Whether Spark should broadcast the affected groups."""
        return self.affected is not None and self.affected <= MAX_BROADCAST

    @property
    def appends(self) -> bool:
        """Whether it only adds rows to a table without a key."""
        return not self.key and not self.groups_view

    @property
    def replaces(self) -> bool:
        """Whether it rewrites the table with some groups replaced: a table without a key has no upsert."""
        return not self.key and bool(self.groups_view)

    @property
    def views(self) -> list[str]:
        """The temporary views of an incremental refresh; a view comes before the views that it reads."""
        return [name for name in (self.groups_view,) if name] + [part.view for part in self.changed]

    @property
    def console(self) -> str:
        """The text that the console shows after REFRESH."""
        if not self.words and not self.is_full:
            return self.kind.value
        return f"{self.kind.value}{':' if self.is_full else ','} {self.words}"
