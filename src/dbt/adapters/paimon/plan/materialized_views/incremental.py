"""Plans an incremental refresh: pure functions of a query and its pinned sources."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from dbt.adapters.paimon.metadata.table_name import TableName
from dbt.adapters.paimon.plan.materialized_views.query import Branch, Query
from dbt.adapters.paimon.plan.materialized_views.reasons import NotIncremental, Reason
from dbt.adapters.paimon.plan.materialized_views.refresh import (
    MAX_BROADCAST,
    ChangedRows,
    Mode,
    PinnedSource,
    Refresh,
    RefreshKind,
    View,
)
from dbt.adapters.paimon.sql.text import quoted

# If a GROUP BY reads its driving table twice, a full refresh is cheaper if the table has at least _MANY_ROWS rows, and
# its groups have at least _MANY_PER_GROUP rows on average (`make bench ARGS=views`).
_MANY_ROWS: Final = 100_000
_MANY_PER_GROUP: Final = 20
# With fewer rows per group, a full refresh is cheaper if more than this share of the driving rows has changed.
_MAX_ROWS_OF_GROUPS: Final = 0.03


@dataclass(frozen=True)
class Pins:
    """The pinned sources of a query; `changed` names those with changes since the last refresh."""

    query: Query
    sources: Mapping[TableName, PinnedSource]
    changed: frozenset[TableName] = frozenset()

    def of(self, read: int) -> PinnedSource:
        """The source of a read, by its index."""
        return self.sources[self.query.reads[read].table.name]

    def has_changed(self, read: int) -> bool:
        """Whether the source of a read has changed."""
        return self.query.reads[read].table.name in self.changed

    @property
    def now(self) -> dict[int, str]:
        """Index of a read -> its source at the table snapshot to read."""
        return {read: self.of(read).at(self.of(read).now) for read in range(len(self.query.reads))}

    @property
    def then(self) -> dict[int, str]:
        """Index of a read -> its source at the table snapshot of the last refresh."""
        return {read: self.of(read).at(self.of(read).then) for read in range(len(self.query.reads))}


def planned(view: View, pins: Pins, full: Refresh, totals: Mapping[TableName, int], groups: int) -> Refresh:
    """An incremental refresh, before its changed rows are counted; raises NotIncremental.

    Args:
        totals: the approximate row count of each source.
        groups: the approximate row count of the view.
    """
    query = pins.query
    _require_appended(view, pins)
    parts = [_changed_rows(pins, branch) for branch in query.branches]
    new = pins.now | {part.branch.driver: _rows_of(part, "not __dbt_gone") for part in parts}
    refresh = replace(
        full,
        kind=RefreshKind.INCREMENTAL,
        changed=tuple(parts),
        key=view.key,
        total=sum(totals.get(part.source.table, 0) for part in parts),
        rows_sql=query.spliced(new),
    )
    if query.groups is None:
        only_added = query.keeps_rows and all(part.source.only_added for part in parts)
        deletes = bool(view.key) and not only_added
        return replace(refresh, deletes=deletes, drops=deletes and not query.keeps_rows)
    limit = _max_rows(view, refresh, groups)
    few = {part.view for part in parts if _most_rows(part, totals, limit) <= MAX_BROADCAST}
    return replace(
        refresh,
        max_rows=limit,
        groups_view=view_name("groups"),
        groups=query.groups,
        groups_sql=_affected_groups(pins, parts, new, few),
        rows_sql=query.spliced(pins.now),
        total=groups,
        deletes=True,
        drops=True,
    )


def _max_rows(view: View, refresh: Refresh, groups: int) -> int | None:
    """The limit of changed rows, if a GROUP BY reads its driving table twice; raises NotIncremental above it."""
    rows = refresh.total
    twice = view.mode is Mode.AUTO and any(_loses_rows(part) for part in refresh.changed)
    if not twice or rows < _MANY_ROWS:
        return None
    if groups * _MANY_PER_GROUP <= rows:
        raise NotIncremental(Reason.FEW_GROUPS, f"{groups:,}", f"{rows:,}")
    limit = int(rows * _MAX_ROWS_OF_GROUPS)
    # Metadata shows how many rows were written. Rows that join changed rows of other tables are counted by `limited`.
    if (written := sum(part.source.written for part in refresh.changed)) > limit:
        raise NotIncremental(Reason.TOO_MANY, f"about {written:,} rows", f"{limit:,}")
    return limit if any(part.joined for part in refresh.changed) else None


def _most_rows(part: ChangedRows, totals: Mapping[TableName, int], limit: int | None) -> int:
    """The number of changed rows that a driving table may have."""
    most = part.source.most + (totals.get(part.source.table, 0) if part.joined else 0)
    return most if limit is None else min(most, limit)


def _affected_groups(
    pins: Pins, parts: Sequence[ChangedRows], new: Mapping[int, str], few: Collection[str]
) -> tuple[str, ...]:
    """The queries for the groups that contain changed rows now, or contained them before; `few`: the small parts."""
    now = pins.query.spliced(new, without_having=True)
    if not any(_loses_rows(part) for part in parts):
        return (now,)
    old = pins.then | {part.branch.driver: _past(part, broadcast=part.view in few) for part in parts}
    return now, pins.query.spliced(old, without_having=True)


def _require_appended(view: View, pins: Pins) -> None:
    """Refuse updates and deletes if the view's table has no key: its rows cannot be replaced."""
    if view.key or pins.query.groups is not None:
        return
    # A row that joins a changed table has to be replaced, also if that table only got new rows.
    is_joined = any(pins.has_changed(join.read) for branch in pins.query.branches for join in branch.joins)
    if is_joined or not all(pins.sources[name].only_added for name in pins.changed):
        drivers = [pins.query.reads[branch.driver].table for branch in pins.query.branches]
        # Only an older table can lack the key although each driving table has one.
        without_key = next((table for table in drivers if not table.primary_key), drivers[0])
        raise NotIncremental(Reason.NO_KEY, without_key.name.shown)


def _changed_rows(pins: Pins, branch: Branch) -> ChangedRows:
    driver = pins.query.reads[branch.driver].table
    joined = tuple((pins.of(join.read), join.keys) for join in branch.joins if pins.has_changed(join.read))
    if joined and not driver.primary_key:
        raise NotIncremental(Reason.NO_KEY, driver.name.shown)
    return ChangedRows(
        view_name("changed"), pins.of(branch.driver), tuple(driver.columns), driver.primary_key, joined, branch
    )


def _loses_rows(part: ChangedRows) -> bool:
    """Whether a changed row may have left a group."""
    return bool(part.joined) or bool(part.source.changes and not part.source.only_added)


def _rows_of(part: ChangedRows, condition: str) -> str:
    columns = ", ".join(quoted(name) for name in part.columns)
    return f"(select {columns} from {quoted(part.view)} where {condition})"


def _past(part: ChangedRows, *, broadcast: bool) -> str:
    """The changed rows as they were before; without a primary key, only the deleted rows."""
    if not part.key:
        return _rows_of(part, "__dbt_gone")
    same = " and ".join(f"__old.{quoted(key)} = __new.{quoted(key)}" for key in part.key)
    hint = "/*+ broadcast(__new) */ " if broadcast else ""
    return (
        f"(select {hint}__old.* from {part.source.at(part.source.then)} as __old "
        f"left semi join {quoted(part.view)} as __new on {same})"
    )


def view_name(what: str) -> str:
    """A unique name for a temporary view."""
    return f"__dbt_{what}_{uuid.uuid4().hex[:12]}"
