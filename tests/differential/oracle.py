"""The table that each step should leave, from a plain model of the docs: strategies, microbatch windows, changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from differential import dates, snapshots
from differential.merge_engines import upserted
from differential.plan import Plan, Step
from differential.tables import (
    Expected,
    Refusal,
    Refused,
    Row,
    Table,
    built,
    rebuilt,
    rolled_back,
    rows_of,
    synced,
)

_WORDS: Final = {
    "+I": 0, "insert": 0, "c": 0, "r": 0, "+U": 1, "UPDATE": 1, "u": 1, "-D": 2, "delete": 2, "d": 2,
}  # fmt: skip
_KINDS: Final = ("+I", "+U", "-D")


def after_run(plan: Plan, table: Table | None, step: Step) -> Expected:
    """The model's expected table after a run; `table` is the one before, or None."""
    if plan.is_snapshot:
        return Expected(snapshots.table_after(plan, table, step))
    if plan.family == "dates":
        return Expected(dates.table(plan))
    if any(row[name] is None for row in rows_of(step.batch) for name in _keys(plan, step)):
        return Expected(table, "must")
    if plan.family == "apply_changes":
        return Expected(_changes(table, step))
    # Either the first run refuses a name in another case, or every run accepts it.
    odd_case = "may" if "e" in step.traits and table is None else "never"
    if table is None or step.full_refresh or plan.config["materialized"] == "table":
        empty = rebuilt(table, step.batch) if table else built(step.batch)
        rows = rows_of(step.batch)
        if plan.family == "microbatch":
            rows = _in_window(plan, rows, step)
        asks = _loses_history(plan, table, step) if table and not step.full_refresh else "never"
        if asks == "must":
            return Expected(table, asks)
        return Expected(_written(plan, empty, rows), odd_case if asks == "never" else asks)
    try:
        into, rows, refusal = synced(plan, table, step.batch)
    except Refused:
        return Expected(table, "must")
    given = [name for name, _ in step.batch.columns if name in into.columns]
    return Expected(into.with_rows(_STRATEGIES[plan.family](plan, into, rows, given, step)), refusal)


def _loses_history(plan: Plan, table: Table, step: Step) -> Refusal:
    """Whether a `table` model is refused because a new table would replace the old one (docs/behavior-flags.md).

    No ALTER TABLE reorders the fields of structs in an array, so tags would be lost. For other types, and for a table
    with several writes and no tag, it depends on Paimon's version and on compactions.
    """
    have = table.kinds()
    changed = {(have[name], kind) for name, kind in step.batch.columns if have.get(name, kind) != kind}
    if not changed:
        return "never"
    turned = any(have.startswith("array<struct") for have, _ in changed)
    return "must" if turned and table.tags else "may"


def after_operation(table: Table, name: str, arguments: Mapping[str, Any]) -> Table:
    """The table after maintenance; only a rollback changes its rows."""
    if name == "create_tag":
        return replace(table, tags={**table.tags, arguments["tag"]: replace(table, tags={})})
    if name == "rollback_to":
        return rolled_back(table, arguments["version"])
    return table


def _keys(plan: Plan, step: Step) -> list[str]:
    """The columns that must not be NULL."""
    names = plan.columns_of("primary_key")
    keys = {name.lower() for name in (*names, *(plan.columns_of("partition_by") if names else ()))}
    return [name for name, _ in step.batch.columns if name in keys]


def _written(plan: Plan, empty: Table, rows: Sequence[Row]) -> Table:
    plan = lowered(plan)
    return empty.with_rows(upserted(plan, empty, rows) if plan.config.get("primary_key") else rows)


def lowered(plan: Plan) -> Plan:
    """The plan with the column names of its config in lower case, like the columns."""
    config = dict(plan.config)
    for key in ("primary_key", "partition_by", "sequence_field", "bucket_key"):
        value = config.get(key)
        if value:
            config[key] = value.lower() if isinstance(value, str) else [name.lower() for name in value]
    return replace(plan, config=config)


# -- strategies: the rows of the table after the batch ------------------------------------------------------


def _append(plan: Plan, table: Table, rows: list[Row], given: list[str], step: Step) -> list[Row]:
    return [*table.rows, *rows]


def _upsert(plan: Plan, table: Table, rows: list[Row], given: list[str], step: Step) -> list[Row]:
    return upserted(lowered(plan), table, rows)


def _added(plan: Plan, table: Table, rows: list[Row], given: list[str], step: Step) -> list[Row]:
    return (_upsert if plan.config.get("primary_key") else _append)(plan, table, rows, given, step)


def _merge(plan: Plan, table: Table, rows: list[Row], given: list[str], step: Step) -> list[Row]:
    plan = lowered(plan)
    key = plan.columns_of("unique_key") or plan.columns_of("primary_key")
    only, other = plan.columns_of("merge_update_columns"), plan.columns_of("merge_exclude_columns")
    updates = [name for name in given if name not in (*key, *other) and (not only or name in only)]
    deletes = "merge_delete_condition" in plan.config
    left = [dict(row) for row in table.rows]
    for row in rows:
        matched = [old for old in left if _same(old, row, key)]
        if deletes and row.get("gone") is True:
            left = [old for old in left if not _same(old, row, key)]
        elif matched:
            for old in matched:
                old.update({name: row[name] for name in updates})
        else:
            left.append(row)
    return left


def _delete_insert(plan: Plan, table: Table, rows: list[Row], given: list[str], step: Step) -> list[Row]:
    plan = lowered(plan)
    key, primary = plan.columns_of("unique_key"), plan.columns_of("primary_key")
    left = [
        old
        for old in table.rows
        if not any(_same(old, row, key) or (primary and _same(old, row, primary)) for row in rows)
    ]
    return [*left, *rows]


def _insert_overwrite(plan: Plan, table: Table, rows: list[Row], given: list[str], step: Step) -> list[Row]:
    plan = lowered(plan)
    parts = plan.columns_of("partition_by")
    left = [old for old in table.rows if not any(_same(old, row, parts) for row in rows)]
    return [*left, *rows]


def _microbatch(plan: Plan, table: Table, rows: list[Row], given: list[str], step: Step) -> list[Row]:
    outside = [row for row in table.rows if not _in_window(plan, [row], step)]
    return [*outside, *_in_window(plan, rows, step)]


_STRATEGIES: Final[Mapping[str, Callable[..., list[Row]]]] = {
    "append": _append,
    "upsert": _upsert,
    "partial_update": _upsert,
    "merge": _merge,
    "delete_insert": _delete_insert,
    "insert_overwrite": _insert_overwrite,
    "microbatch": _microbatch,
    "removals": _added,
    **dict.fromkeys(("deletes", "partition_deletes", "row_kind_deletes", "key_deletes"), _added),
    "times": _added,
    "widened": _added,
    "changes": lambda plan, *rest: (_merge if "merge_delete_condition" in plan.config else _upsert)(plan, *rest),
}


def _same(old: Row, new: Row, key: Sequence[str]) -> bool:
    return all(repr(old[name]) == repr(new[name]) for name in key)


def _in_window(plan: Plan, rows: Sequence[Row], step: Step) -> list[Row]:
    assert step.window is not None
    start, end = (datetime.fromisoformat(at) for at in step.window)
    column = plan.config["event_time"]
    return [row for row in rows if start <= datetime.fromisoformat(row[column]) < end]


# -- change rows ------------------------------------------------------------------------------


def _changes(table: Table | None, step: Step) -> Table:
    known: dict[Any, Row] = {} if table is None or step.full_refresh else dict(table.changes)
    for row in rows_of(step.batch):
        if row["op"] == "-U":
            continue
        change = {**row, "op": _KINDS[_WORDS[row["op"]]]}
        old = known.get(row["id"])
        if old is None or _newer(change, old):
            known[row["id"]] = change
    base = table or built(step.batch)
    return replace(base, changes=known).with_rows([row for row in known.values() if row["op"] != "-D"])


def _newer(new: Row, old: Row) -> bool:
    return (new["seq"], _KINDS.index(new["op"])) >= (old["seq"], _KINDS.index(old["op"]))
