"""Long-running streams: how `dbt-paimon stream` controls the dbt run in its process."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event
from typing import Final

from dbt.adapters.paimon.streaming.settings import StreamSettings

# Set while `dbt-paimon stream` runs dbt in this process.
_LONG_RUNNING: Final = Event()
# Set when the streams of this process have to end, each after its current batch.
STOP: Final = Event()
# Seconds before each restart of a failed stream, so that a broker or a store can recover.
PAUSES: Final = (2, 5, 10, 20, 40, 60, 60, 60, 60, 60)
# Number and unit of an interval that `settings` allows, and the seconds per unit.
_PARTS: Final = re.compile(r"([\d.]+) *(\w+?)s?$")
_SECONDS: Final = {"millisecond": 0.001, "second": 1.0, "minute": 60.0, "hour": 3600.0}


@dataclass(frozen=True)
class Trigger:
    """How often a query looks for rows, and when it ends.

    Attributes:
        processing_time: how often the query looks for rows; None if it ends once it has read everything.
        is_cancelled: returns whether the query has to end immediately.
    """

    processing_time: str | None
    is_cancelled: Callable[[], bool]

    @property
    def pauses(self) -> tuple[int, ...]:
        """The seconds before each restart of a failed query; empty if the query ends by itself."""
        return PAUSES if self.processing_time else ()

    @property
    def seconds(self) -> float:
        """The seconds between two checks for rows; 0 if the query ends by itself."""
        if not self.processing_time:
            return 0.0
        number, unit = _PARTS.findall(self.processing_time.lower())[0]
        return float(number) * _SECONDS[unit]


def trigger(settings: StreamSettings, is_cancelled: Callable[[], bool], drains: bool) -> Trigger:
    """The trigger of a model's query; `drains`: see `Streams.run`."""
    is_long_running = _LONG_RUNNING.is_set() and not drains
    return Trigger(settings.processing_time if is_long_running else None, is_cancelled)


@contextmanager
def long_running_streams() -> Iterator[None]:
    """Within this context, streaming models are long-running: they run until STOP is set."""
    _LONG_RUNNING.set()
    try:
        yield
    finally:
        _LONG_RUNNING.clear()
