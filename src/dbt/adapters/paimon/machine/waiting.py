"""Waiting with a bound: after half a minute the log says for what, and at the bound one error says what to do.

What can be asked again and again is waited for by `Wait.until` or `Wait.pause`; one call that blocks by `watched`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Final, TypeVar

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

logger = AdapterLogger("Paimon")

# Seconds until the log first says what is waited for, and between two such lines.
NOTICE_AFTER: Final = 30.0
NOTICE_EVERY: Final = 120.0
# Seconds; a profile may say others. A node keeps its table for all of its statements, and those of another run may be
# long. What a statement does between two Spark jobs is to plan, to commit and to delete files, which may take hours.
LONGEST_WAIT: Final = 2 * 3600.0
LONGEST_STALL: Final = 4 * 3600.0

_Answer = TypeVar("_Answer")


class WaitedTooLongError(DbtRuntimeError):
    """What was waited for did not come within the bound."""


class Wait:
    """One wait, which begins as this is made."""

    def __init__(
        self,
        what: str,
        bound: float,
        remedy: str,
        *,
        notice_after: float | None = None,
        notice_every: float | None = None,
        tell: Callable[[str], object] | None = None,
    ) -> None:
        """Begin to wait.

        Args:
            what: what is waited for, as it ends the sentence "Waiting for …".
            bound: the seconds that it may take.
            remedy: what a person can do when it took longer; whole sentences.
            notice_after: seconds until the log says so; NOTICE_AFTER unless told.
            notice_every: seconds between two such lines; NOTICE_EVERY unless told.
            tell: takes such a line; dbt's log unless told.
        """
        self._what = what
        self._bound = bound
        self._remedy = remedy
        self._tell = tell or logger.info
        self._every = NOTICE_EVERY if notice_every is None else notice_every
        self._began = time.monotonic()
        self._next_notice = NOTICE_AFTER if notice_after is None else notice_after

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return time.monotonic() - self._began

    @property
    def left(self) -> float:
        """The seconds until the bound; none are left after it."""
        return max(0.0, self._bound - self.seconds)

    def error(self) -> WaitedTooLongError:
        """What is raised at the bound."""
        return WaitedTooLongError(f"Waited {_shown(self._bound)} for {self._what}. {self._remedy}".strip())

    def check(self) -> None:
        """Say what is waited for, if that is due.

        Raises:
            WaitedTooLongError: the bound is reached.
        """
        seconds = self.seconds
        if seconds >= self._bound:
            raise self.error()
        if seconds >= self._next_notice:
            self._next_notice = seconds + self._every
            self._tell(
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
        """Ask until the answer is a yes.

        Args:
            ready: asked at least once; may block for a moment itself.
            every: seconds between two questions.

        Returns:
            The first answer that is true.

        Raises:
            WaitedTooLongError: there was none within the bound.
        """
        while not (answer := ready()):
            self.pause(every)
        return answer


@contextmanager
def watched(wait: Wait, end: Callable[[], object], *, look_every: float = 1.0) -> Iterator[None]:
    """Watch over a call that blocks.

    Args:
        wait: what it waits for.
        end: what has the call return or raise; called once, by another thread, when the bound is reached.
        look_every: seconds between two looks at the clock.

    Raises:
        WaitedTooLongError: the bound was reached and the call failed of `end`. One that came to its end in that moment
            is no error.
    """
    over = Event()
    ended: list[WaitedTooLongError] = []

    def look() -> None:
        while not over.wait(min(look_every, wait.left + 0.01)):
            try:
                wait.check()
            except WaitedTooLongError as exc:  # noqa: PERF203 - one look in a second
                ended.append(exc)
                with suppress(Exception):
                    end()
                return

    watcher = Thread(target=look, name="waiting", daemon=True)
    watcher.start()
    try:
        yield
    except Exception as exc:
        if ended:
            raise ended[0] from exc
        raise
    finally:
        over.set()


def _shown(seconds: float) -> str:
    """A span of time for people: 45 s, 3 min, 2 h."""
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.3g} s"
