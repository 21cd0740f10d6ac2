"""Timestamps of result rows in the time zone of the Spark session, as SQL shows them.

PySpark converts a TIMESTAMP to the local time of dbt's machine (TimestampType.fromInternal), so that the same query
shows other values on another laptop; dbt takes them for UTC. It also fails on the first day of the year 1.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


# Python 3.10 only reads fractions of a second with three or six digits.
_FRACTION = re.compile(r"(?<=\.)\d{1,5}$")


# PySpark 3.5 makes a number of months of an interval, and 4.1 cannot bring it.
_SHOWN = {"timestamp": "timestamp_ntz", "yearmonthinterval": "string"}


def on_session_clock(frame: DataFrame) -> DataFrame:
    """The same rows with columns as Python can hold them (see `_SHOWN`), except inside nested types.

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
    """The datetime that a user wrote, in the session's time zone: a datetime, a date (midnight), or ISO text.

    Raises ValueError for other values, and for a time zone.
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
        raise ValueError("a timestamp without time zone is needed: it is read in the session's.")
    return moment
