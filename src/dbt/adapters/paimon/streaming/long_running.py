"""Streams that go on until they are stopped: what `dbt-paimon stream` changes about a run of dbt in its process."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from dbt.adapters.paimon.streaming.settings import StreamSettings

# Set while `dbt-paimon stream` runs dbt in this process.
_GOES_ON: Final = Event()
# Set when it is to end.
_STOP: Final = Event()
# Seconds before a stream that failed is started again: a broker or a store that went away may come back.
PAUSES: Final = (2, 5, 10, 20, 40, 60, 60, 60, 60, 60)
# Of an interval, as `settings` allows it.
_PARTS: Final = re.compile(r"([\d.]+) *(\w+?)s?$")
_SECONDS: Final = {"millisecond": 0.001, "second": 1.0, "minute": 60.0, "hour": 3600.0}


@dataclass(frozen=True)
class Trigger:
    """How a query goes on and ends.

    Attributes:
        processing_time: how often it looks for rows; None if it ends when it has read those there were.
        is_to_end: whether it is to end after the batch that runs.
        is_cancelled: whether it is to end at once.
    """

    processing_time: str | None
    is_to_end: Callable[[], bool]
    is_cancelled: Callable[[], bool]

    @property
    def pauses(self) -> tuple[int, ...]:
        """Seconds before each further attempt of a query that failed; none for one that ends anyway."""
        return PAUSES if self.processing_time else ()

    @property
    def seconds(self) -> float:
        """How often it looks for rows, in seconds; 0 if it ends."""
        if not self.processing_time:
            return 0.0
        number, unit = _PARTS.findall(self.processing_time.lower())[0]
        return float(number) * _SECONDS[unit]

    def wait(self, seconds: float) -> None:
        """Pause, unless it is to end."""
        _STOP.wait(seconds)


def trigger(settings: StreamSettings, is_cancelled: Callable[[], bool], drains: bool) -> Trigger:
    """The trigger of a model's query.

    Args:
        settings: of the model.
        is_cancelled: see `Trigger`.
        drains: whether the query ends when it has read what there was, also in a process of long-running streams.
    """
    goes_on = _GOES_ON.is_set() and not drains
    return Trigger(settings.processing_time if goes_on else None, _STOP.is_set, is_cancelled)


def begin() -> None:
    """Forget that streams of this process were to end."""
    _STOP.clear()


def is_stopping() -> bool:
    """Whether the streams of this process are to end."""
    return _STOP.is_set()


def stop() -> None:
    """Have the streams of this process end, each after the batch that runs."""
    _STOP.set()


@contextmanager
def streams_go_on() -> Iterator[None]:
    """Streaming models that are run inside go on until `stop`."""
    _GOES_ON.set()
    try:
        yield
    finally:
        _GOES_ON.clear()
