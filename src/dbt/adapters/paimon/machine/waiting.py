"""Waits with a time limit: the log shows what a run waits for, and the error at the limit contains the remedy.

`Wait.until` and `Wait.pause` poll; `watched` watches one blocking call.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Final, TypeVar

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

logger = AdapterLogger("Paimon")

# Seconds until the first log message, and between messages.
NOTICE_AFTER: Final = 30.0
NOTICE_EVERY: Final = 120.0
# Default limits in seconds for a lock and for a statement without a Spark job. A node holds its table's lock for all
# its statements. Between Spark jobs, a statement plans, commits and deletes files, which may take hours.
LONGEST_WAIT: Final = 2 * 3600.0
LONGEST_STALL: Final = 4 * 3600.0

_Answer = TypeVar("_Answer")


class WaitedTooLongError(DbtRuntimeError):
    """The wait reached its limit."""


class Wait:
    """One wait, which starts when this object is created.

    Args:
        what: completes the sentence "Waiting for …".
        bound: the limit in seconds.
        remedy: sentences at the end of the error.
        notify: called with each message; writes to dbt's log by default.
    """

    def __init__(self, what: str, bound: float, remedy: str, *, notify: Callable[[str], object] | None = None) -> None:
        self._what = what
        self._bound = bound
        self._remedy = remedy
        self._notify = notify or logger.info
        self._began = time.monotonic()
        self._next_notice = NOTICE_AFTER

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    @property
    def left(self) -> float:
        """Seconds until the limit; 0 after it."""
        return max(0.0, self._bound - self.seconds)

    def error(self) -> WaitedTooLongError:
        """The error to raise at the limit."""
        return WaitedTooLongError(f"Waited {_duration(self._bound)} for {self._what}. {self._remedy}".strip())

    def check(self) -> None:
        """Log a message if one is due; raises WaitedTooLongError at the limit."""
        seconds = self.seconds
        if seconds >= self._bound:
            raise self.error()
        if seconds >= self._next_notice:
            self._next_notice = seconds + NOTICE_EVERY
            self._notify(f"Waiting for {self._what}: {_duration(seconds)} so far, {_duration(self._bound)} at most")

    def pause(self, seconds: float) -> None:
        """Sleep, but not past the limit; raises WaitedTooLongError at the limit."""
        self.check()
        time.sleep(min(seconds, self.left))

    def until(self, ready: Callable[[], _Answer | None], every: float = 0.1) -> _Answer:
        """Call `ready` every `every` seconds until it returns a true value; raises WaitedTooLongError at the limit."""
        while not (answer := ready()):
            self.pause(every)
        return answer


@contextmanager
def watched(wait: Wait, end: Callable[[], object], *, look_every: float = 1.0) -> Iterator[None]:
    """Watch a blocking call; at the limit, `end` is called on another thread and makes the call return or raise.

    Raises:
        WaitedTooLongError: `end` made the call fail.
    """
    over = Event()
    ended: list[WaitedTooLongError] = []

    def look() -> None:
        while not over.wait(min(look_every, wait.left + 0.01)):
            try:
                wait.check()
            except WaitedTooLongError as exc:  # noqa: PERF203 - once a second
                ended.append(exc)
                with suppress(Exception):
                    end()
                return

    Thread(target=look, name="waiting", daemon=True).start()
    with ended_by(ended, over):
        yield


@contextmanager
def ended_by(reasons: Sequence[WaitedTooLongError], over: Event) -> Iterator[None]:
    """If a watcher ends the block, raise the watcher's error in `reasons` instead of the block's. Then set `over`."""
    try:
        yield
    except Exception as exc:
        if reasons:
            raise reasons[0] from exc
        raise
    finally:
        over.set()


def _duration(seconds: float) -> str:
    """A readable duration: 45 s, 3 min, 2 h."""
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.3g} s"
