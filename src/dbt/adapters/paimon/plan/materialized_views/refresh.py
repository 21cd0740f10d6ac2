"""One refresh of a materialized view: what it reads, and what its run does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from dbt.adapters.paimon.metadata.table_name import TableName
from dbt.adapters.paimon.plan.materialized_views.query import Branch, Query
from dbt.adapters.paimon.plan.materialized_views.reasons import NotIncremental

# The column of row kinds in the changes of a source.
KIND = "__dbt_kind"


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
    """A materialized view as its model asks for it, before its sources are read.

    Attributes:
        query: what its query is made of; None if its sources are not known.
        refusal: why it is refreshed as a whole, if it always is.
        key: the primary key of its table; empty without one.
        rebuilt: why a change of its config rewrites the whole table; '' if it does not.
    """

    sql: str
    mode: Mode
    query: Query | None = None
    refusal: NotIncremental | None = None
    key: tuple[str, ...] = ()
    rebuilt: str = ""


@dataclass(frozen=True)
class PinnedSource:
    """A source at the table snapshot that a refresh reads, and at the one that the last refresh has read.

    Attributes:
        rendered: the same in SQL.
        now: the table snapshot to read; 0 for a table without any.
        then: the one that the last refresh has read.
        changes: a subquery of its changed rows, with their row kind in the column KIND; '' if nothing has changed.
        only_added: whether every change is a row that was added.
        unpinned: the table snapshot that is read by the table's name alone.
    """

    table: TableName
    rendered: str
    now: int
    then: int = 0
    changes: str = ""
    only_added: bool = False
    unpinned: int | None = None

    def at(self, snapshot: int) -> str:
        """The table as it was at a table snapshot, after FROM; at 0 it had no rows."""
        if not snapshot:
            return f"(select * from {self.rendered} where false)"
        if snapshot == self.unpinned:
            return self.rendered
        return f"{self.rendered} version as of {snapshot}"


@dataclass(frozen=True)
class ChangedRows:
    """The rows of a driving table whose output may have changed, for a temporary view.

    Attributes:
        view: the name of the temporary view.
        source: the driving table.
        columns: its columns.
        key: the columns of its primary key; empty if only appended rows are read.
        joined: for each changed table that it is joined with: the source, and its key column -> the column of the
            driving table that it is compared with.
        branch: the output columns of its key, and its literals.
    """

    view: str
    source: PinnedSource
    columns: tuple[str, ...]
    key: tuple[str, ...]
    joined: tuple[tuple[PinnedSource, Mapping[str, str]], ...]
    branch: Branch


@dataclass(frozen=True)
class Refresh:
    """What the run of a materialized view does.

    Attributes:
        words: why, or how much has changed, as the console shows it.
        sql: the query to run for a full refresh.
        changed: the rows of driving tables to recompute.
        groups_view: the name of the temporary view of the affected groups; '' if the query does not group.
        groups_sql: the queries whose groups are affected.
        key: the columns of the view's key; empty if its table has none.
        total: about how many keys or groups there are.
        affected: how many of them are recomputed; None before they are counted.
        deletes: whether keys may have to be deleted.
        drops: whether a changed row or group may have no new row: its key is deleted then.
    """

    does: RefreshKind
    words: str = ""
    sql: str = ""
    changed: tuple[ChangedRows, ...] = ()
    groups_view: str = ""
    groups: tuple[str, ...] = ()
    groups_sql: tuple[str, ...] = ()
    rows_sql: str = ""
    key: tuple[str, ...] = ()
    total: int = 0
    affected: int | None = None
    deletes: bool = False
    drops: bool = False
    pinned: Mapping[TableName, PinnedSource] = field(default_factory=dict)

    @property
    def is_full(self) -> bool:
        """Whether it writes all rows."""
        return self.does is RefreshKind.FULL

    @property
    def is_incremental(self) -> bool:
        """Whether it writes what changed."""
        return self.does is RefreshKind.INCREMENTAL

    @property
    def appends(self) -> bool:
        """Whether it only adds rows to a table without a key."""
        return not self.key and not self.groups_view

    @property
    def replaces(self) -> bool:
        """Whether it writes the table again, with some groups replaced: a table without a key has no upsert."""
        return not self.key and bool(self.groups_view)

    @property
    def views(self) -> list[str]:
        """The names of the temporary views that a refresh by what changed begins with, those that read others first."""
        return [name for name in (self.groups_view,) if name] + [part.view for part in self.changed]

    @property
    def console(self) -> str:
        """The console's words, after REFRESH."""
        if not self.words and not self.is_full:
            return self.does.value
        return f"{self.does.value}{':' if self.is_full else ','} {self.words}"
