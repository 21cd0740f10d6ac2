"""Sequences of a dbt snapshot: keys of one or several columns, and rows that disappear and come back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from differential import conditions, draw_columns
from differential.chooser import Chooser
from differential.plan import Batch, Plan, Step

# Keys of two columns that are easily confused with each other.
_PAIRS: Final = (
    ("x|y", "z"), ("x", "y|z"), ("x", None), ("x", ""), (None, "x"), ("", "x"), ("x", "-"), ("x-", ""), ("-", "-"),
)  # fmt: skip
_IDS: Final = {"int": ((1,), (2,), (0,), (-1,)), "string": (("a",), ("",), (" ",), ("b'c\\d",))}


def of_one_column(c: Chooser, zone: str) -> Plan:
    kind = c.pick(tuple(_IDS))
    return _plan(c, zone, "snapshot", [("id", kind)], _IDS[kind])


def of_pairs(c: Chooser, zone: str) -> Plan:
    first = c.number(0, len(_PAIRS) - 4)
    return _plan(c, zone, "snapshot_of_pairs", [("a", "string"), ("b", "string")], _PAIRS[first : first + 4])


def _plan(c: Chooser, zone: str, family: str, columns: list[tuple[str, str]], keys: Sequence[tuple[Any, ...]]) -> Plan:
    names = [name for name, _ in columns]
    config: dict[str, Any] = {
        "unique_key": names if len(names) > 1 else names[0],
        "hard_deletes": c.pick(("ignore", "new_record", "invalidate", "new_record")),
    }
    config |= c.pick((
        {"strategy": "timestamp", "updated_at": "at"},
        {"strategy": "check", "check_cols": "all"},
        {"strategy": "timestamp", "updated_at": "at"},
        {"strategy": "check", "check_cols": "all", "updated_at": "at"},
    ))  # fmt: skip
    timed = "updated_at" in config
    values = [(f"v{number}", c.pick(draw_columns.PLAIN)) for number in range(c.number(1, 2))]
    wider = c.number(1, 4) if c.chance(25) else None
    if wider:
        values[0] = ("v0", "int")
    times = [("at", "timestamp")] if timed else []
    rows: dict[Any, tuple[Any, ...]] = {}
    steps: list[Step] = []
    for number in range(c.number(3, 5)):
        if number and c.chance(15):
            steps.append(Step(steps[-1].batch, empty=True))
            continue
        if wider and number >= wider:
            values[0] = ("v0", "bigint")
        here = c.some(keys, 60)
        for key in here:
            if key not in rows or c.chance(40):
                rows[key] = (*_values(c, values), *_time(c, rows.get(key), number, timed))
        batch = Batch((*columns, *values, *times), tuple((*key, *rows[key]) for key in here))
        steps.append(Step(batch, filters=_filters(c) if wider else ()))
    return Plan(0, family, zone, config, tuple(steps))


def _filters(c: Chooser) -> tuple[list[Any], ...]:
    numbers = (*draw_columns.pool("bigint"), *draw_columns.pool("int"))
    return tuple(conditions.drawn(c, {"v0": numbers}, depth=1, sure=False) for _ in range(2))


def _values(c: Chooser, columns: list[tuple[str, str]]) -> tuple[Any, ...]:
    return tuple(None if c.chance(20) else c.pick(draw_columns.pool(kind)) for _, kind in columns)


def _time(c: Chooser, old: tuple[Any, ...] | None, number: int, timed: bool) -> tuple[Any, ...]:
    """The value of `updated_at`; some changes keep the old one."""
    if not timed:
        return ()
    if old is not None and c.chance(30):
        return (old[-1],)
    return (draw_columns.sequence_value("timestamp", number),)
