"""Watermarks: a stream of a Paimon table returns the rows of each time window once, when the window is closed.

This works like Spark's withWatermark in append mode (Structured Streaming guide, "Handling Late Data and
Watermarking"): the watermark is the newest time that was read minus the delay. A window is closed once the watermark
has reached its end; later rows of closed windows are dropped. The rows of open windows are read from the source table,
so the checkpoint only records which windows are closed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.sql.text import quoted
from dbt.adapters.paimon.streaming.hadoop_files import HadoopFolder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_KEYS: Final = ("column", "delay", "window")
_INTERVAL: Final = re.compile(r"(\d+) +(second|minute|hour|day|week)s?", re.IGNORECASE)
_SECONDS: Final = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
_MICROSECONDS: Final = 1_000_000
_EPOCH: Final = datetime.fromisoformat("1970-01-01")
_LOCAL: Final = "timestamp_ntz"


@dataclass(frozen=True)
class Mark:
    """Which windows are closed after a batch; times are microseconds since 1970.

    Attributes:
        latest: the newest time that has been read; None if no row had a time.
        closed: the end of the last closed window; None while no window is closed.
        late: the number of rows of the batch that arrived too late.
    """

    latest: int | None = None
    closed: int | None = None
    late: int = 0


@dataclass(frozen=True)
class Watermark:
    """The argument `watermark` of a `stream(...)`.

    Attributes:
        column: the time column.
        data_type: `timestamp` or `timestamp_ntz`.
        delay, window: in microseconds. Windows are aligned to 1970-01-01 00:00 (UTC), as in Spark's `window()`.
    """

    column: str
    data_type: str
    delay: int
    window: int

    @classmethod
    def of(cls, argument: Any, columns: Sequence[tuple[str, str]]) -> Watermark:
        """Parse the argument; `columns` are pairs of name and type. Raises DbtRuntimeError if a key is invalid."""
        if not isinstance(argument, Mapping) or set(argument) != set(_KEYS):
            raise DbtRuntimeError(
                f"watermark={argument} must have the keys {', '.join(_KEYS)}, as in "
                "{'column': 'sent_at', 'delay': '10 minutes', 'window': '1 hour'}."
            )
        name = str(argument["column"])
        found = next((each for each in columns if each[0].lower() == name.lower()), None)
        if found is None or found[1] not in ("timestamp", _LOCAL):
            is_there = f"is of type {found[1]}" if found else "does not exist"
            raise DbtRuntimeError(f"watermark: column '{name}' {is_there}; it must be a timestamp.")
        delay, window = (_microseconds(key, argument[key]) for key in _KEYS[1:])
        if not window:
            raise DbtRuntimeError(f"watermark: window='{argument['window']}' must be longer than 0.")
        return cls(*found, delay, window)

    @property
    def identity(self) -> str:
        """What must not change between the runs of a stream; the delay may change."""
        return f"{self.column}, windows of {self.window // _MICROSECONDS} seconds"

    def seen_sql(self, rows: str, before: Mark) -> str:
        """The query for the newest time among a batch's rows, in microseconds, and the number of late rows."""
        column, newest = quoted(self.column), f"max({quoted(self.column)})"
        if self.data_type == _LOCAL:
            # Read as UTC, whatever the session's time zone.
            newest = f"cast(concat(cast({newest} as string), 'Z') as timestamp)"
        late = "0L" if before.closed is None else f"count_if({column} < {self._literal(before.closed)})"
        return f"select unix_micros({newest}), {late} from (\n{rows}\n)"

    def following(self, before: Mark, newest: int | None, late: int) -> Mark:
        """The mark of a batch, from the result of `seen_sql`."""
        latest = max((time for time in (before.latest, newest) if time is not None), default=None)
        if latest is None:
            return Mark(late=late)
        closed = (latest - self.delay) // self.window * self.window
        return Mark(latest, closed if before.closed is None else max(closed, before.closed), late)

    def closed_sql(self, rows: str, before: Mark, mark: Mark) -> str:
        """The query for the rows of the windows that a batch closes; `rows` is a query for all rows of the table."""
        column = quoted(self.column)
        if mark.closed is None or mark.closed == before.closed:
            return f"{rows}\nwhere false"
        begun = "" if before.closed is None else f"{column} >= {self._literal(before.closed)} and "
        return f"{rows}\nwhere {begun}{column} < {self._literal(mark.closed)}"

    def _literal(self, time: int) -> str:
        if self.data_type == _LOCAL:
            return f"timestamp_ntz'{_EPOCH + timedelta(microseconds=time)}'"
        return f"timestamp_micros({time})"


class Marks:
    """The marks of a stream's batches, in its checkpoint."""

    def __init__(self, session: SparkSession, folder: str) -> None:
        self._files = HadoopFolder(session, folder)

    def before(self, batch: int) -> Mark:
        """The mark of the previous batch; deletes earlier marks, which no batch needs any longer."""
        earlier = [number for number in self._numbers() if number < batch]
        for number in earlier[:-1]:
            self._files.delete_file(str(number))
        return self._read(earlier[-1]) if earlier else Mark()

    def of(self, batch: int) -> Mark | None:
        """The mark of a batch that an earlier run began; it stays valid even if the delay has changed."""
        return self._read(batch) if batch in self._numbers() else None

    def write(self, batch: int, mark: Mark) -> None:
        """Store the mark of a batch, before its rows are written."""
        self._files.write(str(batch), json.dumps(asdict(mark)))

    def _numbers(self) -> list[int]:
        return sorted(int(name) for name in self._files.names() if name.isdecimal())

    def _read(self, batch: int) -> Mark:
        return Mark(**json.loads(self._files.read(str(batch)) or "{}"))


def _microseconds(key: str, text: Any) -> int:
    found = _INTERVAL.fullmatch(str(text).strip())
    if found is None:
        raise DbtRuntimeError(f"watermark: {key}='{text}' is not an interval. Write '10 minutes', for example.")
    return int(found[1]) * _SECONDS[found[2].lower()] * _MICROSECONDS
