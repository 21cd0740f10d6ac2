"""Bounded waits: after half a minute the log says what a run waits for; at the bound one error has the remedy.

Use `Wait.until` or `Wait.pause` for what can be polled, and `watched` for one call that blocks.
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

# Seconds until the log first says what is waited for, and between two such messages.
NOTICE_AFTER: Final = 30.0
NOTICE_EVERY: Final = 120.0
# Seconds; a profile may set another value. A node keeps its table's lock for all its statements, and those of another
# run may take long. Between two Spark jobs, a statement plans, commits and deletes files, which may take hours.
LONGEST_WAIT: Final = 2 * 3600.0
LONGEST_STALL: Final = 4 * 3600.0

_Answer = TypeVar("_Answer")


class WaitedTooLongError(DbtRuntimeError):
    """The wait took longer than the bound."""


class Wait:
    """One wait, which starts when this object is created."""

    def __init__(
        self,
        what: str,
        bound: float,
        remedy: str,
        *,
        notice_after: float | None = None,
        notice_every: float | None = None,
        notify: Callable[[str], object] | None = None,
    ) -> None:
        """Start to wait.

        Args:
            what: what is waited for, as it ends the sentence "Waiting for …".
            bound: seconds that it may take.
            remedy: what the user can do if it takes longer; whole sentences.
            notice_after: seconds until the first message in the log; NOTICE_AFTER by default.
            notice_every: seconds between two messages; NOTICE_EVERY by default.
            notify: gets each message; dbt's log by default.
        """
        self._what = what
        self._bound = bound
        self._remedy = remedy
        self._notify = notify or logger.info
        self._every = NOTICE_EVERY if notice_every is None else notice_every
        self._began = time.monotonic()
        self._next_notice = NOTICE_AFTER if notice_after is None else notice_after

    @property
    def seconds(self) -> float:
        """Seconds since the wait started."""
        return time.monotonic() - self._began

    @property
    def left(self) -> float:
        """Seconds until the bound; 0 after it."""
        return max(0.0, self._bound - self.seconds)

    def error(self) -> WaitedTooLongError:
        """The error to raise at the bound."""
        return WaitedTooLongError(f"Waited {_shown(self._bound)} for {self._what}. {self._remedy}".strip())

    def check(self) -> None:
        """Log what is waited for, if a message is due.

        Raises:
            WaitedTooLongError: the bound is reached.
        """
        seconds = self.seconds
        if seconds >= self._bound:
            raise self.error()
        if seconds >= self._next_notice:
            self._next_notice = seconds + self._every
            self._notify(
                f"Waiting for {self._what}: {_shown(seconds)} so far, {_shown(self._bound)} at the most"
            )

    def pause(self, seconds: float) -> None:
        """Sleep, but not past the bound.

        Raises:
            WaitedTooLongError: the bound is reached.
        """
        self.check()
        time.sleep(min(seconds, self.left))

    def until(self, ready: Callable[[], _Answer | None], every: float = 0.1) -> _Answer:
        """Poll until the answer is true.

        Args:
            ready: called at least once; may block for a moment.
            every: seconds between two calls.

        Returns:
            The first answer that is true.

        Raises:
            WaitedTooLongError: there was no true answer within the bound.
        """
        while not (answer := ready()):
            self.pause(every)
        return answer


@contextmanager
def watched(wait: Wait, end: Callable[[], object], *, look_every: float = 1.0) -> Iterator[None]:
    """Watch a call that blocks.

    Args:
        wait: what it waits for.
        end: makes the call return or raise; called once, from another thread, when the bound is reached.
        look_every: seconds between two checks of the clock.

    Raises:
        WaitedTooLongError: the bound was reached and `end` made the call fail. If the call succeeded at that moment,
        nothing is raised.
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

    watcher = Thread(target=look, name="waiting", daemon=True)
    watcher.start()
    with ended_by(ended, over):
        yield


@contextmanager
def ended_by(reasons: Sequence[WaitedTooLongError], over: Event) -> Iterator[None]:
    """A call that a watcher may end: its own error is then only the consequence.

    Args:
        reasons: has the watcher's error once it has ended the call.
        over: set when the call has returned or raised.

    Raises:
        WaitedTooLongError: the watcher's error, if it made the call fail.
    """
    try:
        yield
    except Exception as exc:
        if reasons:
            raise reasons[0] from exc
        raise
    finally:
        over.set()


def _shown(seconds: float) -> str:
    """A duration for people: 45 s, 3 min, 2 h."""
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.3g} s"
