"""Timestamps of result rows on the wall clock of the Spark session, as SQL shows them.

PySpark gives a TIMESTAMP to Python on the clock of the machine that dbt runs on (TimestampType.fromInternal): the same
query would show other figures on another laptop, and dbt takes them for UTC.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def on_session_clock(
    rows: Sequence[Sequence[Any]], data_types: Sequence[str], zone: str
) -> list[tuple[Any, ...]]:
    """Move the TIMESTAMP columns of rows from this machine's clock to that of the session.

    Args:
        rows: as PySpark collected them: datetimes without a zone.
        data_types: Spark's type text of each column; TIMESTAMP_NTZ and nested types stay as they are.
        zone: `spark.sql.session.timeZone`; one that Python does not know leaves the rows as they are.
    """
    moved = {index for index, data_type in enumerate(data_types) if data_type == "timestamp"}
    clock = _zone(zone)
    if not moved or clock is None:
        return [tuple(row) for row in rows]
    return [
        tuple(_moved(value, clock) if index in moved else value for index, value in enumerate(row))
        for row in rows
    ]


def _zone(name: str) -> tzinfo | None:
    # "Z", an offset such as "+01:00": ISO 8601, which datetime reads.
    for read in (ZoneInfo, lambda text: datetime.fromisoformat(f"2000-01-01T00:00:00{text}").tzinfo):
        with suppress(ValueError, ZoneInfoNotFoundError):
            return read(name)
    return None


def _moved(value: datetime | None, clock: tzinfo) -> datetime | None:
    if value is None:
        return None
    # The first and last days that Python can count have no neighbour to move to.
    with suppress(OverflowError, ValueError, OSError):
        return value.astimezone(clock).replace(tzinfo=None, fold=0)
    return value
