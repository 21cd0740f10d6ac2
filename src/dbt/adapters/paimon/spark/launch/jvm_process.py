"""The JVM as a child process: starts it out of Ctrl-C's reach, ends it, and reads its exit status."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Lock
from typing import Any, Final

# `starting` is held while a JVM starts. No JVM starts after `ending` is set.
starting: Final = Lock()
ending: Final = Event()
# Seconds to wait for a JVM to exit, which usually takes a fraction of one.
_LONGEST_END: Final = 10


def abandon() -> None:
    """At the end of the process: kill a JVM that is still starting, so that it leaves no temporary file."""
    ending.set()
    if Spawned.last and starting.locked():
        Spawned.last.terminate()
    if starting.acquire(timeout=_LONGEST_END):
        starting.release()


def exit_status(seconds: float) -> int | None:
    """The exit status of this process's last JVM (`Popen.returncode`) if it exits within `seconds`; else None."""
    with suppress(subprocess.TimeoutExpired):
        return Spawned.last.wait(seconds) if Spawned.last else None
    return None


def kill() -> None:
    """Kill the JVM that this process started last."""
    if Spawned.last:
        Spawned.last.kill()


def end(why: str) -> None:
    """Kill this process's JVM at once; uncommitted writes are lost. The resulting error begins with `why`."""
    Spawned.ended_because = why
    kill()


def end_by(way: Callable[[], object], why: str) -> None:
    """Call `way` to make this process's JVM exit cleanly; kill the JVM if it does not exit within some seconds.

    `way` may raise, since its connection ends too. The resulting error begins with `why`.
    """
    Spawned.ended_because = why
    with suppress(Exception):
        way()
    if exit_status(_LONGEST_END) is None:
        kill()


class Spawned(subprocess.Popen[bytes]):
    """A process that Ctrl-C does not reach, started without running Python code in the child.

    PySpark makes the JVM ignore Ctrl-C with a `preexec_fn`, which runs in a fork of Python. If another thread imports a
    module meanwhile, as in dbt's start, the child can hang (see the warning at preexec_fn in Python's documentation).
    """

    last: Spawned | None = None
    # Why this process ended its JVM; '' if it did not.
    ended_because = ""

    def __init__(self, command: Sequence[str], *, preexec_fn: object = None, **more: Any) -> None:
        if preexec_fn is not None:
            command = ["/bin/sh", "-c", 'trap "" INT; exec "$@"', "sh", *command]
        super().__init__(command, **more)
        Spawned.last = self
        if ending.is_set():
            self.terminate()


@contextmanager
def spawned() -> Iterator[None]:
    """Make PySpark start its JVM as `Spawned` inside the block; only one start runs at a time (see `starting`)."""
    from pyspark import java_gateway

    module: Any = java_gateway
    theirs = module.Popen
    module.Popen = Spawned
    try:
        yield
    finally:
        module.Popen = theirs
