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
    from pyspark.sql.types import DataType


# Python 3.10 only parses fractions of a second with three or six digits.
_FRACTION = re.compile(r"(?<=\.)\d{1,5}$")


# Types of keys with which json.dumps, which dbt calls for nested values, writes a map.
_JSON_KEYS = ("string", "boolean", "byte", "short", "integer", "long", "float", "double")


def on_session_clock(frame: DataFrame) -> DataFrame:
    """The same rows, with types that Python and JSON can represent (see `_shown`).

    Columns are converted by position, because two columns of a query may have the same name.
    """
    kinds = [field.dataType for field in frame.schema.fields]
    shown = [_shown(kind) for kind in kinds]
    if shown == kinds:
        return frame
    renamed = frame.toDF(*(f"c{place}" for place in range(len(kinds))))
    columns = [
        renamed[name] if kind == wanted else renamed[name].cast(wanted).alias(name)
        for name, kind, wanted in zip(renamed.columns, kinds, shown, strict=True)
    ]
    return renamed.select(*columns)


def _shown(kind: DataType) -> DataType:
    """A type with TIMESTAMP_NTZ for TIMESTAMP, and text for year-month intervals and most keys of maps, at any depth.

    PySpark 3.5 returns a year-month interval as a number of months, and 4.1 cannot return it.
    """
    from pyspark.sql import types

    if isinstance(kind, types.ArrayType):
        return types.ArrayType(_shown(kind.elementType), kind.containsNull)
    if isinstance(kind, types.MapType):
        key = kind.keyType if kind.keyType.typeName() in _JSON_KEYS else types.StringType()
        return types.MapType(key, _shown(kind.valueType), kind.valueContainsNull)
    if isinstance(kind, types.StructType):
        fields = [types.StructField(each.name, _shown(each.dataType), each.nullable) for each in kind.fields]
        return types.StructType(fields)
    if isinstance(kind, types.TimestampType):
        return types.TimestampNTZType()
    return types.StringType() if kind.typeName() == "yearmonthinterval" else kind


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
