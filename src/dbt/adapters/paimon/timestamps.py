"""Timestamps of result rows on the wall clock of the Spark session, as SQL shows them.

PySpark gives a TIMESTAMP to Python on the clock of the machine that dbt runs on (TimestampType.fromInternal): the same
query would show other figures on another laptop, and dbt takes them for UTC. And `datetime.fromtimestamp` looks a day
back, which the first day of the year 1 has not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


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
