"""Sequences of one step: a model that calls dbt's date macros with all kinds of arguments."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from differential import dates
from differential.chooser import Chooser
from differential.plan import Batch, Plan, Step

_DAYS: Final = (
    "2024-01-01", "2024-02-29", "2023-12-31", "2025-01-31", "2023-12-01", "1969-12-31", "2024-02-03",
)  # fmt: skip
_CLOCKS: Final = (
    "00:00:00", "22:10:20", "22:17:33", "23:59:59.999999", "10:11:12.345678", "00:00:00.000001",
)  # fmt: skip
_INTERVALS: Final = ("1", "0", "-1", "3 - 1", "1 - 3", "12", "-13", "400")
_DAILY: Final = ("day", "week", "month", "quarter", "year")


def calls(c: Chooser, zone: str) -> Plan:
    drawn = tuple(_call(c, zone) for _ in range(c.number(4, 8)))
    return Plan(0, "dates", zone, {"materialized": "table"}, (Step(Batch(dates.COLUMNS, drawn)),))


def _call(c: Chooser, zone: str) -> tuple[str, ...]:
    macro, kind = c.pick(("dateadd", "datediff", "date_spine")), c.pick(("timestamp", "date"))
    first = _time(c, kind)
    if macro == "date_spine":
        part = c.pick(_DAILY if kind == "date" else (*_DAILY, "hour", "minute"))
        end = dates.added(part, c.number(1, 5), datetime.fromisoformat(first), zone)
        return (
            macro,
            part,
            kind,
            first,
            f"{end:%Y-%m-%d}" if kind == "date" else f"{end:%Y-%m-%d %H:%M:%S.%f}",
        )
    part = c.pick(dates.PARTS)
    if macro == "datediff":
        return macro, part, kind, first, _time(c, kind)
    long = ("1000000",) if part in ("hour", "minute", "second") else ()
    return macro, part, kind, first, c.pick((*_INTERVALS, *long))


def _time(c: Chooser, kind: str) -> str:
    day = c.pick(_DAYS)
    return day if kind == "date" else f"{day} {c.pick(_CLOCKS)}"
