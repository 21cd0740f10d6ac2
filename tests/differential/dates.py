"""dbt's date macros (docs.getdbt.com, cross-database macros): calls in a model, and their results in Python.

A call is a row: the macro, the date part, the type of the times, the first time, and the interval (an expression) or
the second time.
"""

from __future__ import annotations

import calendar
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from differential.plan import Plan
from differential.tables import Row, Table

COLUMNS: Final = (
    ("macro", "string"), ("part", "string"), ("kind", "string"), ("first", "string"), ("second", "string"),
)  # fmt: skip
_KINDS: Final = {"call": "int", "at": "timestamp_ntz", "number": "bigint"}
_MONTHS: Final = {"month": 1, "quarter": 3, "year": 12}
_SPANS: Final = {
    "week": timedelta(weeks=1),
    "day": timedelta(days=1),
    "hour": timedelta(hours=1),
    "minute": timedelta(minutes=1),
    "second": timedelta(seconds=1),
    "millisecond": timedelta(milliseconds=1),
    "microsecond": timedelta(microseconds=1),
}
PARTS: Final = (*_MONTHS, *_SPANS)
# A Sunday, on which dbt's weeks begin.
_SUNDAY: Final = datetime(2000, 1, 2)


def model(plan: Plan) -> str:
    """The query with the calls of a plan."""
    return "\nunion all\n".join(
        f"select {number} as call, {_query(*call)}" for number, call in enumerate(plan.steps[0].batch.rows)
    )


def _query(macro: str, part: str, kind: str, first: str, second: str) -> str:
    start = f"{kind}'{first}'"
    if macro == "datediff":
        call = f'{{{{ dbt.datediff("{start}", "{kind}\'{second}\'", "{part}") }}}}'
        return f"cast(null as timestamp_ntz) as at, cast({call} as bigint) as number"
    if macro == "dateadd":
        call = f'{{{{ dbt.dateadd("{part}", "{second}", "{start}") }}}}'
        return f"cast({call} as timestamp_ntz) as at, cast(null as bigint) as number"
    call = f'{{{{ dbt.date_spine("{part}", "{start}", "{kind}\'{second}\'") }}}}'
    return f"cast(date_{part} as timestamp_ntz) as at, cast(null as bigint) as number from (\n{call}\n)"


def table(plan: Plan) -> Table:
    """The model's expected table."""
    return Table({name: (kind, 0) for name, kind in _KINDS.items()}, ()).with_rows(_expected(plan))


def _expected(plan: Plan) -> list[Row]:
    rows = []
    for number, (macro, part, _, first, second) in enumerate(plan.steps[0].batch.rows):
        start = datetime.fromisoformat(first)
        if macro == "datediff":
            found: Sequence[Any] = (None,)
            count = crossed(part, start, datetime.fromisoformat(second))
        elif macro == "dateadd":
            found, count = (added(part, _number(second), start, plan.zone),), None
        else:
            found, count = _spine(part, start, datetime.fromisoformat(second), plan.zone), None
        rows += [{"call": number, "at": at and f"{at:%Y-%m-%d %H:%M:%S.%f}", "number": count} for at in found]
    return rows


def _number(interval: str) -> int:
    """The value of an interval, such as `3 - 1`."""
    first, minus, second = interval.partition(" - ")
    return int(first) - (int(second) if minus else 0)


def _spine(part: str, start: datetime, end: datetime, zone: str) -> list[datetime]:
    """Times from the start, one part apart: one for each boundary up to the end."""
    return [
        at
        for step in range(crossed(part, start, end))
        if (at := added(part, step, start, zone)) <= end
    ]  # fmt: skip


def added(part: str, number: int, start: datetime, zone: str) -> datetime:
    """A time plus a number of parts: in calendar time for days and longer parts, else in elapsed seconds."""
    if part in _MONTHS:
        months = start.year * 12 + start.month - 1 + number * _MONTHS[part]
        year, month = divmod(months, 12)
        last = calendar.monthrange(year, month + 1)[1]
        return start.replace(year=year, month=month + 1, day=min(start.day, last))
    if part in ("week", "day"):
        return start + number * _SPANS[part]
    instant = start.replace(tzinfo=ZoneInfo(zone)).astimezone(ZoneInfo("UTC"))
    return (instant + number * _SPANS[part]).astimezone(ZoneInfo(zone)).replace(tzinfo=None)


def crossed(part: str, first: datetime, second: datetime) -> int:
    """How many boundaries of a part lie between two times."""
    if part in _MONTHS:
        return (second.year * 12 + second.month - 1) // _MONTHS[part] - (first.year * 12 + first.month - 1) // _MONTHS[
            part
        ]
    return (second - _SUNDAY) // _SPANS[part] - (first - _SUNDAY) // _SPANS[part]
