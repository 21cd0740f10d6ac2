"""Timestamps of result rows in the Spark session's time zone, as SQL shows them.

PySpark converts a TIMESTAMP to the local time of dbt's machine (TimestampType.fromInternal), so the same query
returns different values on different machines, and dbt takes them for UTC. PySpark also fails on 0001-01-01.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


# Python 3.10 only parses fractions of a second with three or six digits.
_FRACTION = re.compile(r"(?<=\.)\d{1,5}$")


# PySpark 3.5 returns a year-month interval as a number of months, and 4.1 cannot return it.
_SHOWN = {"timestamp": "timestamp_ntz", "yearmonthinterval": "string"}


def on_session_clock(frame: DataFrame) -> DataFrame:
    """The same rows, with types that Python can represent (see `_SHOWN`), except inside nested types.

    Columns are converted by position, because two columns of a query may have the same name.
    """
    kinds = [field.dataType.typeName() for field in frame.schema.fields]
    if not _SHOWN.keys() & set(kinds):
        return frame
    names = [f"c{place}" for place in range(len(kinds))]
    columns = [
        f"cast({name} as {_SHOWN[kind]}) as {name}" if kind in _SHOWN else name
        for name, kind in zip(names, kinds, strict=True)
    ]
    return frame.toDF(*names).selectExpr(*columns)


def session_moment(value: Any) -> datetime:
    """The datetime of a user's value in the session's time zone: a datetime, a date (midnight), or an ISO string.

    Raises ValueError for other values, and for values with a time zone.
    """
    moment = value
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(_FRACTION.sub(lambda found: found[0].ljust(6, "0"), value.strip()))
        except ValueError:
            moment = None
    if isinstance(moment, date) and not isinstance(moment, datetime):
        moment = datetime.combine(moment, time())
    if not isinstance(moment, datetime):
        raise ValueError("a timestamp is needed, as in '2024-01-31 12:00:00'.")  # noqa: TRY004 - user input
    if moment.tzinfo is not None:
        raise ValueError("a timestamp without time zone is needed: the session's time zone applies.")
    return moment
