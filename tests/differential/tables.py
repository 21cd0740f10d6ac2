"""A table as the oracle knows it, and the columns that a run gives it."""

from __future__ import annotations

import struct
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from differential import values
from differential.plan import Batch, Plan
from differential.snapshot_model import Version

Row = dict[str, Any]
# What a run may do beside what is expected: end with an error and an unchanged table.
Refusal = Literal["never", "may", "must"]
_UP: Final = ("tinyint", "smallint", "int", "bigint")
_TURNED: Final = frozenset(values.REORDERED.items())
# Where a column is of a type of `values.LOSSY`: its model's own type goes into it.
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
    """Columns (name -> type and a number that tells a column from one of that name before it), rows, tags."""

    columns: Mapping[str, tuple[str, int]]
    rows: tuple[Row, ...]
    tags: Mapping[str, Table] = field(default_factory=dict)
    # Of apply_changes: of each key the change that counts, deletes among them.
    changes: Mapping[Any, Row] = field(default_factory=dict)
    # Of a dbt snapshot.
    versions: Sequence[Version] = ()

    def with_rows(self, rows: Sequence[Row]) -> Table:
        return replace(self, rows=tuple({name: row.get(name) for name in self.columns} for row in rows))

    def kinds(self) -> dict[str, str]:
        return {name: kind for name, (kind, _) in self.columns.items()}


@dataclass(frozen=True)
class Expected:
    """What a step leaves; None is no table."""

    table: Table | None
    refusal: Refusal = "never"


class Refused(Exception):
    """The run has to end with an error."""


def rows_of(batch: Batch) -> list[Row]:
    return [dict(zip((name for name, _ in batch.columns), row, strict=True)) for row in batch.rows]


def built(batch: Batch) -> Table:
    """A table as a first run or a full refresh makes it, without rows."""
    return Table({name: (kind, 0) for name, kind in batch.columns}, ())


def rebuilt(table: Table, batch: Batch) -> Table:
    """A table that is built anew; a column of another type or a dropped one is another column."""
    columns = {}
    for name, kind in batch.columns:
        old = table.columns.get(name)
        columns[name] = (kind, old[1] if old and old[0] == kind else _next(table))
    return Table(columns, ())


def synced(plan: Plan, table: Table, batch: Batch) -> tuple[Table, list[Row], Refusal]:
    """The table with the columns that `on_schema_change` gives it, and the batch's rows as it takes them.

    Raises:
        Refused: what docs/strategies.md says is refused.
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
            # A table whose filters would miss rows then is rebuilt, by hand (docs/data-types.md).
            refusal = "may" if new == "string" or "orc" in str(plan.config) else refusal
        elif _up(new, old):
            _cast(rows, name, new, old)
            if (new, old) == ("bigint", "double"):
                # Refused where a value is none of a double.
                refusal = "may"
        elif any(row[name] is not None for row in rows):
            # Of these types no value is drawn that the table takes.
            raise Refused
        else:
            refusal = "may"
    if mode == "sync_all_columns":
        columns = {name: column for name, column in columns.items() if name not in drop}
    return replace(table, columns=columns).with_rows(old_rows), rows, refusal


def refused(plan: Plan, table: Table | None, batch: Batch, found: Collection[str]) -> Table | None:
    """The table after a run that was refused: new columns may be there, which come before the rows are looked at.

    Args:
        plan: the sequence.
        table: before the run.
        batch: of the run.
        found: the names of the columns that are there now.
    """
    if table is None or plan.config.get("on_schema_change") not in ("append_new_columns", "sync_all_columns"):
        return table
    new = {name: (kind, _next(table)) for name, kind in batch.columns if name in found and name not in table.columns}
    return replace(table, columns={**table.columns, **new}).with_rows(table.rows)


def _cast(rows: Sequence[Row], name: str, old: str, new: str) -> None:
    for row in rows:
        row[name] = widened(row[name], old, new)


def widened(value: Any, old: str, new: str) -> Any:
    """A value as one of a wider type."""
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
    """The rows of a tag, in the columns of now; tags that came later are gone."""
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
    """Whether every value of a type is one of the other (of the pairs that are drawn)."""
    if old in _UP and new in _UP:
        return _UP.index(old) < _UP.index(new)
    return values.WIDER.get(old) == new or (old, new) in _BACK


def _next(table: Table) -> int:
    return 1 + max([number for _, number in table.columns.values()], default=0) + 100 * len(table.tags)
