"""How each merge engine merges a second row of a key (docs/merge-engines.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tests.functional.conftest import CONNECTOR

from differential import values
from differential.plan import Plan
from differential.tables import Row, Table

_TAKES_NULL: Final = ("last_value", "first_value")


def _of_two(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A function of two values that ignores NULL."""
    return lambda old, new: new if old is None else old if new is None else function(old, new)


def _listagg(old: str | None, new: str | None) -> str | None:
    """Both texts, except those that Paimon leaves out: empty ones from 1.4 on, blank ones from 2.0 on."""
    if CONNECTOR.release < (1, 4):
        return _of_two(lambda old, new: f"{old},{new}")(old, new)
    if CONNECTOR.release < (2,):
        return _of_two(lambda old, new: ",".join(filter(None, (old, new))))(old, new)
    return ",".join(text for text in (old, new) if text and text.strip()) or None


FUNCTIONS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "sum": _of_two(lambda old, new: old + new),
    "max": _of_two(max),
    "min": _of_two(min),
    "last_value": lambda _, new: new,
    "last_non_null_value": _of_two(lambda _, new: new),
    "first_value": lambda old, _: old,
    "first_non_null_value": _of_two(lambda old, _: old),
    "listagg": _listagg,
    "bool_or": _of_two(lambda old, new: old or new),
    "bool_and": _of_two(lambda old, new: old and new),
}


def upserted(plan: Plan, table: Table, rows: Sequence[Row]) -> list[Row]:
    """The rows of a primary-key table after an INSERT of `rows`."""
    key = plan.columns_of("primary_key")
    merge = _ENGINES[plan.config.get("merge_engine", "deduplicate")]
    found = {tuple(map(_hashable, (row[name] for name in key))): row for row in table.rows}
    for row in rows:
        whole = {name: row.get(name) for name in table.columns}
        at = tuple(map(_hashable, (row[name] for name in key)))
        found[at] = merge(plan, table, found[at], whole) if at in found else whole
    return list(found.values())


def _deduplicate(plan: Plan, table: Table, old: Row, new: Row) -> Row:
    for name in plan.columns_of("sequence_field"):
        kind = table.columns[name][0]
        if values.order(kind, new[name]) < values.order(kind, old[name]):
            return old
    return new


def _first_row(plan: Plan, table: Table, old: Row, new: Row) -> Row:
    return old


def _partial_update(plan: Plan, table: Table, old: Row, new: Row) -> Row:
    settings = plan.config.get("fields") or {}
    grouped = {
        member: order
        for order, options in settings.items()
        if "sequence_group" in options
        for member in (order, *options["sequence_group"])
    }
    merged = {}
    for name in table.columns:
        if name not in grouped:
            merged[name] = old[name] if new[name] is None else new[name]
            continue
        late = new[grouped[name]] is None or (
            old[grouped[name]] is not None and new[grouped[name]] < old[grouped[name]]
        )
        function = settings.get(name, {}).get("aggregate_function")
        if function:
            merged[name] = FUNCTIONS[function](*((new[name], old[name]) if late else (old[name], new[name])))
        else:
            merged[name] = old[name] if late else new[name]
    return merged


def _aggregation(plan: Plan, table: Table, old: Row, new: Row) -> Row:
    key, settings = plan.columns_of("primary_key"), plan.config.get("fields") or {}
    return {
        name: old[name]
        if name in key
        else FUNCTIONS[settings.get(name, {}).get("aggregate_function", "last_non_null_value")](old[name], new[name])
        for name in table.columns
    }


_ENGINES: Final = {
    "deduplicate": _deduplicate,
    "first-row": _first_row,
    "partial-update": _partial_update,
    "aggregation": _aggregation,
}


def _hashable(value: Any) -> Any:
    return repr(value)
