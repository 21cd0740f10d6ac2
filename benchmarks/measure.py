"""Measures the wall and CPU time of commands and running processes, with contestants taking turns."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

# From <linux/prctl.h>: this process adopts orphans, so that it can wait for them and count their CPU time.
_PR_SET_CHILD_SUBREAPER: Final = 36
# Without cached bytecode, every process compiles dbt again.
_UNUSUAL: Final = ("PYTHONDONTWRITEBYTECODE",)


@dataclass(frozen=True)
class Spent:
    """Wall time, and the CPU time of all cores, in seconds."""

    wall: float
    cpu: float


def command(arguments: Sequence[str], cwd: Path, environment: Mapping[str, str], log: Path) -> Spent:
    """Run a command, and wait for processes that outlive it (PySpark leaves its JVM).

    Returns:
        The wall time of the command alone; the CPU time of everything that it started.

    Raises:
        RuntimeError: the command failed; its output is in `log`.
    """
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # Do not wait for a warm server that was started before.
    there = {child.pid for child in psutil.Process().children()}
    before = _cpu_of_children()
    with log.open("w") as output:
        started = time.perf_counter()
        ended = subprocess.run(
            list(arguments),
            cwd=cwd,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
        wall = time.perf_counter() - started
    while left := {child.pid for child in psutil.Process().children()} - there:
        for pid in left:
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)
    if ended.returncode:
        raise RuntimeError(f"{' '.join(arguments)} failed: see {log}")
    return Spent(wall, _cpu_of_children() - before)


def usual(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without variables that make a process slower than a user's."""
    return {name: value for name, value in environment.items() if name not in _UNUSUAL}


def cpu_of(process: psutil.Process) -> float:
    """The CPU seconds that a process and its descendants have used so far."""
    total = 0.0
    for one in (process, *process.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            times = one.cpu_times()
            total += times.user + times.system
    return total


def in_turns(contestants: Mapping[str, Callable[[int], Spent]], rounds: int) -> dict[str, list[Spent]]:
    """Run each contestant once per round, in reverse order in every second round."""
    found: dict[str, list[Spent]] = {name: [] for name in contestants}
    for number, order in enumerate(orders(rounds)):
        for name in list(contestants)[order]:
            found[name].append(contestants[name](number))
    return found


def orders(rounds: int) -> Iterator[slice]:
    """The order of the contestants in each round, alternately forward and backward."""
    for number in range(rounds):
        yield slice(None, None, -1 if number % 2 else 1)


def medians(spent: Sequence[Spent]) -> Spent:
    """The median wall time, and the median CPU time."""
    return Spent(statistics.median(s.wall for s in spent), statistics.median(s.cpu for s in spent))


def means(spent: Sequence[Spent]) -> Spent:
    """The mean wall time, and the mean CPU time."""
    return Spent(statistics.fmean(s.wall for s in spent), statistics.fmean(s.cpu for s in spent))


def files_under(folder: Path) -> dict[str, int]:
    """The size in bytes of every file under a folder, by path."""
    found = {}
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            if path.is_file():
                found[str(path)] = path.stat().st_size
    return found


def bytes_written(before: Mapping[str, int], after: Mapping[str, int]) -> int:
    """The bytes of the files that are new or have another size."""
    return sum(size for path, size in after.items() if before.get(path) != size)


def stop(process: subprocess.Popen[str]) -> None:
    """Kill a process and its descendants."""
    with suppress(psutil.NoSuchProcess):
        below = psutil.Process(process.pid).children(recursive=True)
        for one in below:
            with suppress(psutil.NoSuchProcess):
                one.send_signal(signal.SIGKILL)
    process.kill()
    process.wait()


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
