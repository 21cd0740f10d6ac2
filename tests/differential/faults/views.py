"""Defects in the rules of materialized views, one for each rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from dbt.adapters.paimon.changes import positions
from dbt.adapters.paimon.plan.materialized_views.refresh import KIND

_Instead = Callable[[Any], Any]
_VIEWS: Final = "dbt.adapters.paimon.plan.materialized_views"
_CHANGES: Final = "dbt.adapters.paimon.changes.api"


def _without_deletes(old: Any) -> Any:
    def changed_rows(pins: Any, branch: Any) -> Any:
        part = old(pins, branch)
        if not part.source.changes:
            return part
        left = f"(select * from {part.source.changes} where `{KIND}` <> '-D')"
        return replace(part, source=replace(part.source, changes=left))

    return changed_rows


def _not(_: Any) -> Any:
    return lambda *args: False


def _keeps_dropped(old: Any) -> Any:
    def planned(*args: Any) -> Any:
        refresh = old(*args)
        return refresh if refresh.groups_view else replace(refresh, drops=False)

    return planned


def _newest_when_written(old: Any) -> Any:
    def mark(changes: Any, model: Any, **rebuilt: Any) -> Any:
        reading = changes._readings.get(model["unique_id"])
        if reading is None or not reading.sources:
            return old(changes, model, **rebuilt)
        ends = {source.key: positions.latest(changes._commits(source.relation)) for source in reading.sources.values()}
        return positions.mark(ends)

    return mark


def _with_having(old: Any) -> Any:
    return lambda query, put, **_: old(query, put)


def _first_branch(old: Any) -> Any:
    def changed_rows(pins: Any, branch: Any) -> Any:
        return replace(old(pins, branch), branch=replace(branch, constants=pins.query.branches[0].constants))

    return changed_rows


def _own_commits(old: Any) -> Any:
    def commits(changes: Any, relation: Any) -> Any:
        found = old(changes, relation)
        return tuple(commit for commit in found if positions.marked(commit.user)) or found

    return commits


# name -> (module, attribute, replacement)
PATCHES: Final[Mapping[str, tuple[tuple[str, str, _Instead], ...]]] = {
    # The changed rows of the driving table lack the deleted ones.
    "views-deletes": ((f"{_VIEWS}.incremental", "_changed_rows", _without_deletes),),
    # Changed rows of a joined table are ignored.
    "views-joined": ((f"{_VIEWS}.incremental", "Pins.has_changed", _not),),
    # Rows that a filter or an inner join now drops are not deleted.
    "views-dropped": ((f"{_VIEWS}.api", "incremental.planned", _keeps_dropped),),
    # The previous groups of changed rows are not computed again.
    "views-groups": ((f"{_VIEWS}.incremental", "_loses_rows", _not),),
    # A commit notes the newest table snapshots as read, not those that were read.
    "views-positions": ((_CHANGES, "Changes.mark", _newest_when_written),),
    # Groups that HAVING drops do not count as affected.
    "views-having": ((f"{_VIEWS}.query", "Query.spliced", _with_having),),
    # All branches of a UNION get the constants of the first one in their keys.
    "views-branches": ((f"{_VIEWS}.incremental", "_changed_rows", _first_branch),),
    # Other programs' writes into a view are not noticed.
    "views-written": (
        (_CHANGES, "Changes._commits", _own_commits),
        (f"{_VIEWS}.api", "_require_positions", lambda _: lambda read: None),
    ),
}
