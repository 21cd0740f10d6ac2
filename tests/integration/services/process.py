"""Services as separate processes: start them, wait for their ports, stop them and their children."""

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
# Linux gives ports from 32768 on to connections (ip_local_port_range).
_PORTS = (12000, 32000)
# For a JVM that lives for minutes: the C2 compiler costs more time than it saves.
SHORT_LIVED = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC"}


def free_port() -> int:
    """A free port, below those that the system gives to connections and to Spark's listeners.

    Another test's Spark might take a higher port before the service listens on it.
    """
    while True:
        port = random.randrange(*_PORTS)
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind((LOOPBACK, port))
            return port


def answers(port: int) -> bool:
    """Whether a process listens on a port of the loopback interface."""
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
        ports: the block begins once the command listens on all of them.
        env: variables on top of this process's.
        timeout: seconds to wait for the ports.

    Raises:
        RuntimeError: the command ended or did not listen in time; with the end of its log.
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
        # The port may belong to another process that was faster.
        if process.poll() is not None:
            raise RuntimeError(f"{command[0]} has ended:\n{log.read_text(errors='replace')[-3000:]}")
        yield process
    finally:
        stop(process)


def _die_with_parent() -> None:
    # On Linux, a killed test run leaves no service behind (prctl's PR_SET_PDEATHSIG).
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process and its process group."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=15)
            break
    # The process may end before its children.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
