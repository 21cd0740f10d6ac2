"""Timestamps of result rows on the wall clock of the Spark session, as SQL shows them.

PySpark gives a TIMESTAMP to Python on the clock of the machine that dbt runs on (TimestampType.fromInternal): the same
query would show other figures on another laptop, and dbt takes them for UTC. And `datetime.fromtimestamp` looks a day
back, which the first day of the year 1 has not.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


# Python 3.10 reads fractions of a second of three or six digits only.
_FRACTION = re.compile(r"(?<=\.)\d{1,5}$")


def _six_digits(fraction: re.Match[str]) -> str:
    return fraction[0].ljust(6, "0")


def on_session_clock(frame: DataFrame) -> DataFrame:
    """A frame of the same rows, its TIMESTAMP columns as TIMESTAMP_NTZ; those in arrays, maps and structs stay.

    Names may be others: two columns of a query may have one name, and only their places tell them apart.
    """
    kinds = [field.dataType.typeName() for field in frame.schema.fields]
    if "timestamp" not in kinds:
        return frame
    names = [f"c{place}" for place in range(len(kinds))]
    return frame.toDF(*names).selectExpr(
        *(
            f"cast({name} as timestamp_ntz) as {name}" if kind == "timestamp" else name
            for name, kind in zip(names, kinds, strict=True)
        )
    )


def session_moment(value: Any) -> datetime:
    """A moment on the session's clock that a user wrote: a datetime, a date (its midnight), or either as ISO text.

    Raises:
        ValueError: it is none, or has a time zone; says what is needed.
    """
    moment = value
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(_FRACTION.sub(_six_digits, value.strip()))
        except ValueError:
            moment = None
    if isinstance(moment, date) and not isinstance(moment, datetime):
        moment = datetime.combine(moment, time())
    if not isinstance(moment, datetime):
        raise ValueError("a timestamp is needed, as in '2024-01-31 12:00:00'.")  # noqa: TRY004 - a user's value
    if moment.tzinfo is not None:
        raise ValueError("a timestamp without time zone is needed: it is read in the session's.")
    return moment
