"""The oracle's model of a table, and the table's columns after a run."""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from differential import values
from differential.plan import Batch, Plan
from differential.snapshot_model import Version

Row = dict[str, Any]
# Whether a run may, or must, end with an error and an unchanged table.
Refusal = Literal["never", "may", "must"]
_UP: Final = ("tinyint", "smallint", "int", "bigint")
_TURNED: Final = frozenset(values.REORDERED.items())
# (model's type, table's type) for tables that were built with a type of `values.LOSSY`: the model's values fit.
_BACK: Final = frozenset(
    {
        ("int", "double"),
        ("int", "string"),
        ("bigint", "double"),
        ("bigint", "string"),
        ("double", "string"),
        ("date", "timestamp_ntz"),
        ("decimal(10,2)", "decimal(38,18)"),
        ("array<int>", "array<bigint>"),
    }
)


@dataclass(frozen=True)
class Table:
    """Columns, rows and tags. A column has a type, and a number that differs from earlier columns of the same name."""

    columns: Mapping[str, tuple[str, int]]
    rows: tuple[Row, ...]
    tags: Mapping[str, Table] = field(default_factory=dict)
    # For apply_changes: key -> its last change, which may be a delete.
    changes: Mapping[Any, Row] = field(default_factory=dict)
    # For dbt snapshots.
    versions: Sequence[Version] = ()

    def with_rows(self, rows: Sequence[Row]) -> Table:
        return replace(self, rows=tuple({name: row.get(name) for name in self.columns} for row in rows))

    def kinds(self) -> dict[str, str]:
        return {name: kind for name, (kind, _) in self.columns.items()}


@dataclass(frozen=True)
class Expected:
    """What a step should leave; `table` is None if no table should exist."""

    table: Table | None
    refusal: Refusal = "never"


class Refused(Exception):
    """The run must end with an error."""


def rows_of(batch: Batch) -> list[Row]:
    return [dict(zip((name for name, _ in batch.columns), row, strict=True)) for row in batch.rows]


def built(batch: Batch) -> Table:
    """The table that a first run creates, without rows."""
    return Table({name: (kind, 0) for name, kind in batch.columns}, ())


def rebuilt(table: Table, batch: Batch) -> Table:
    """The table after a rebuild, without rows. A column with another type, or dropped before, is a new column."""
    columns = {}
    for name, kind in batch.columns:
        old = table.columns.get(name)
        columns[name] = (kind, old[1] if old and old[0] == kind else _next(table))
    return Table(columns, ())


def synced(plan: Plan, table: Table, batch: Batch) -> tuple[Table, list[Row], Refusal]:
    """The table after `on_schema_change`, the batch's rows as the table stores them, and whether the run may fail.

    Raises:
        Refused: docs/strategies.md says that the run fails.
    """
    mode = plan.config.get("on_schema_change") or "ignore"
    wanted, have = dict(batch.columns), table.kinds()
    add = {name: kind for name, kind in wanted.items() if name not in have}
    drop = [name for name in have if name not in wanted]
    changed = {name: kind for name, kind in wanted.items() if name in have and have[name] != kind}
    reordered = {
        name for name, kind in changed.items() if (have[name], kind) in _TURNED or (kind, have[name]) in _TURNED
    }
    if mode == "fail" and (add or drop or changed):
        raise Refused
    fills_part = (plan.config.get("incremental_strategy") or "upsert") in (
        "upsert",
        "partial_update",
        "merge",
    ) and plan.config.get("merge_engine") in ("partial-update", "aggregation")
    if mode == "ignore" and drop and not fills_part:
        raise Refused
    columns, rows = dict(table.columns), rows_of(batch)
    if mode in ("append_new_columns", "sync_all_columns"):
        columns |= {name: (kind, _next(table)) for name, kind in add.items()}
    else:
        rows = [{name: value for name, value in row.items() if name not in add} for row in rows]
    old_rows = [dict(row) for row in table.rows]
    refusal: Refusal = "may" if reordered else "never"
    for name in set(changed) - reordered:
        old, new = have[name], changed[name]
        if mode == "sync_all_columns" and (values.WIDER.get(old) == new or (old, new) in values.ALTERED):
            columns[name] = (new, columns[name][1])
            _cast(old_rows, name, old, new)
            # The run is refused if filters would then miss rows; a user has to rebuild the table (docs/data-types.md).
            refusal = "may" if new == "string" or "orc" in str(plan.config) else refusal
        elif _up(new, old):
            _cast(rows, name, new, old)
            if (new, old) == ("bigint", "double"):
                # The run is refused if a value has no exact double.
                refusal = "may"
        elif any(row[name] is not None for row in rows):
            # For these types, only values that do not fit the table are drawn.
            raise Refused
        else:
            refusal = "may"
    if mode == "sync_all_columns":
        columns = {name: column for name, column in columns.items() if name not in drop}
    return replace(table, columns=columns).with_rows(old_rows), rows, refusal


def refused(plan: Plan, table: Table | None, batch: Batch, found: Collection[str]) -> Table | None:
    """The table after a refused run. It may have new columns, which are added before the rows are checked.

    Args:
        plan: the sequence.
        table: the table before the run.
        batch: the batch of the run.
        found: the names of the table's columns after the run.
    """
    if table is None or plan.config.get("on_schema_change") not in ("append_new_columns", "sync_all_columns"):
        return table
    new = {name: (kind, _next(table)) for name, kind in batch.columns if name in found and name not in table.columns}
    return replace(table, columns={**table.columns, **new}).with_rows(table.rows)


def _cast(rows: Sequence[Row], name: str, old: str, new: str) -> None:
    for row in rows:
        row[name] = widened(row[name], old, new)


def widened(value: Any, old: str, new: str) -> Any:
    """A value, converted to a wider type."""
    if value is None:
        return value
    if new == "string":
        return str(value)
    if (old, new) == ("date", "timestamp_ntz"):
        return f"{value} 00:00:00.000000"
    if (old, new) == ("int", "double"):
        return f"{value}.0"
    if (old, new) != ("float", "double"):
        return value
    return repr(struct.unpack(">f", struct.pack(">f", float(value)))[0])


def rolled_back(table: Table, tag: str) -> Table:
    """The rows of a tag in the current columns; later tags are dropped."""
    then = table.tags[tag]
    same = {name for name, column in table.columns.items() if then.columns.get(name, ("", -1))[1] == column[1]}
    rows = [
        {
            name: widened(row[name], then.columns[name][0], kind) if name in same else None
            for name, (kind, _) in table.columns.items()
        }
        for row in then.rows
    ]
    names = list(table.tags)
    kept = {name: table.tags[name] for name in names[: names.index(tag) + 1]}
    return replace(table, tags=kept).with_rows(rows)


def _up(old: str, new: str) -> bool:
    """Whether every value of the old type fits the new one, for the pairs that are drawn."""
    if old in _UP and new in _UP:
        return _UP.index(old) < _UP.index(new)
    return values.WIDER.get(old) == new or (old, new) in _BACK


def _next(table: Table) -> int:
    return 1 + max([number for _, number in table.columns.values()], default=0) + 100 * len(table.tags)
