"""Sequences of a dbt snapshot: keys of one column and of several, rows that go and come back."""

from __future__ import annotations

from typing import Any, Final

from differential import draw_columns
from differential.chooser import Chooser
from differential.plan import Batch, Plan, Step

# Keys of two columns that are easily taken for one another.
_PAIRS: Final = (
    ("x|y", "z"), ("x", "y|z"), ("x", None), ("x", ""), (None, "x"), ("", "x"), ("x", "-"), ("x-", ""), ("-", "-"),
)  # fmt: skip
_IDS: Final = {"int": ((1,), (2,), (0,), (-1,)), "string": (("a",), ("",), (" ",), ("b'c\\d",))}


def snapshot(c: Chooser, zone: str) -> Plan:
    config: dict[str, Any] = {"hard_deletes": c.pick(("ignore", "invalidate", "new_record"))}
    config |= c.pick((
        {"strategy": "timestamp", "updated_at": "at"},
        {"strategy": "check", "check_cols": "all"},
        {"strategy": "timestamp", "updated_at": "at"},
        {"strategy": "check", "check_cols": "all", "updated_at": "at"},
    ))  # fmt: skip
    timed = "updated_at" in config
    if c.chance(50):
        config["unique_key"] = ["a", "b"]
        columns, keys = [("a", "string"), ("b", "string")], _pairs(c)
    else:
        config["unique_key"] = "id"
        kind = c.pick(tuple(_IDS))
        columns, keys = [("id", kind)], list(_IDS[kind])
    values = [(f"v{number}", c.pick(draw_columns.PLAIN)) for number in range(c.number(1, 2))]
    columns += values + ([("at", "timestamp")] if timed else [])
    rows: dict[Any, tuple[Any, ...]] = {}
    steps: list[Step] = []
    for number in range(c.number(3, 5)):
        if number and c.chance(20):
            steps.append(Step(steps[-1].batch, empty=True))
            continue
        here = c.some(keys, 60)
        for key in here:
            if key not in rows or c.chance(40):
                rows[key] = (*_values(c, values), *_time(c, rows.get(key), number, timed))
        steps.append(Step(Batch(tuple(columns), tuple((*key, *rows[key]) for key in here))))
    return Plan(0, "snapshot", zone, config, tuple(steps))


def _pairs(c: Chooser) -> list[tuple[Any, ...]]:
    first = c.number(0, len(_PAIRS) - 4)
    return list(_PAIRS[first : first + 4])


def _values(c: Chooser, columns: list[tuple[str, str]]) -> tuple[Any, ...]:
    return tuple(None if c.chance(20) else c.pick(draw_columns.pool(kind)) for _, kind in columns)


def _time(c: Chooser, old: tuple[Any, ...] | None, number: int, timed: bool) -> tuple[Any, ...]:
    """The time of a change; some changes come without a new one."""
    if not timed:
        return ()
    if old is not None and c.chance(30):
        return (old[-1],)
    return (draw_columns.sequence_value("timestamp", number),)
