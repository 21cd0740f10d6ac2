"""A service as a process of its own: started on a free port of the loopback interface, waited for, stopped with its children."""

from __future__ import annotations

import contextlib
import ctypes
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

LOOPBACK = "127.0.0.1"
# Linux gives out 32768 and above (ip_local_port_range).
_PORTS = (12000, 32000)
# Of a JVM that lives for some minutes: the second compiler costs it more than it gains.
SHORT_LIVED = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"}


def free_port() -> int:
    """A port that no process listens on, below those that the system gives to connections and to Spark's listeners.

    One of theirs may be taken by another test's Spark before the service listens on it.
    """
    while True:
        port = random.randrange(*_PORTS)
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind((LOOPBACK, port))
            return port


def answers(port: int) -> bool:
    """Whether somebody listens on a port of the loopback interface."""
    with contextlib.suppress(OSError), socket.create_connection((LOOPBACK, port), timeout=1):
        return True
    return False


@contextlib.contextmanager
def running(
    command: Sequence[str | Path],
    log: Path,
    ports: Sequence[int],
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout: float = 600,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command until the block ends.

    Args:
        command: the program and its arguments; it stays in the foreground.
        log: the file that gets its output.
        ports: all of them listen before the block begins.
        env: variables on top of this process's.
        timeout: seconds to wait for the ports.

    Raises:
        RuntimeError: it ended or did not listen in time; with the end of its log.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(part) for part in command],
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **SHORT_LIVED, **(env or {})},
            cwd=cwd,
            start_new_session=True,
            preexec_fn=_die_with_parent,  # noqa: PLW1509 - it calls the system and nothing else
        )
    try:
        end = time.monotonic() + timeout
        while not all(answers(port) for port in ports):
            if process.poll() is not None or time.monotonic() > end:
                said = log.read_text(errors="replace")[-3000:]
                raise RuntimeError(f"{command[0]} does not listen on {ports}:\n{said}")
            time.sleep(0.2)
        # Who listens may be another one that was faster.
        if process.poll() is not None:
            raise RuntimeError(f"{command[0]} has ended:\n{log.read_text(errors='replace')[-3000:]}")
        yield process
    finally:
        stop(process)


def _die_with_parent() -> None:
    # A test run that is killed leaves no service behind, where the system can see to it (prctl's PR_SET_PDEATHSIG).
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=15)
            break
    # The leader may be gone before its children are.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
