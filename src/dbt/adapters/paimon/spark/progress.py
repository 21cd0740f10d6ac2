"""Logs the progress of long statements: stages, tasks, rows and bytes so far."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import copy_context
from threading import Event, Thread
from typing import Final

from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.paimon.formatting import counted, roughly_rows, size
from dbt.adapters.paimon.spark.handles import Handle
from dbt.adapters.paimon.spark.job_metrics import Progress

logger = AdapterLogger("Paimon")

# Seconds until the first line, and between lines.
FIRST: Final = 10.0
EVERY: Final = 15.0


class WorkTimer:
    """Holds the start time of the reported work."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Begin new work: earlier Spark jobs are no longer reported."""
        self.since = time.time()


@contextmanager
def report_progress(handle: Handle, name: str, *, silent_without_job: bool = False) -> Iterator[WorkTimer]:
    """Log the progress of this thread's work inside the block; each line begins with `name`.

    With `silent_without_job`, log nothing while Spark runs no job, for example while a stream waits for rows.
    """
    over = Event()
    timer = WorkTimer()

    def report() -> None:
        pause = FIRST
        while not over.wait(pause):
            pause = EVERY
            began = timer.since
            seconds = time.time() - began
            if seconds < FIRST:
                continue
            progress = None
            with suppress(Exception):
                progress = handle.progress(began)
            if over.is_set() or (silent_without_job and not (progress and progress.tasks)):
                continue
            logger.info(line(name, seconds, progress))

    # dbt's log gets the node from a context variable, which a new thread does not inherit.
    Thread(target=copy_context().run, args=(report,), name="progress", daemon=True).start()
    try:
        yield timer
    finally:
        over.set()


def line(name: str, seconds: float, progress: Progress | None) -> str:
    """One line: `fct_flights: 40 s, stage 3 of 4, 120 of 200 tasks, read 12.4 M rows (1.1 GiB)`."""
    parts = [f"{name}: {_duration(seconds)}"]
    if progress is not None:
        if progress.tasks:
            parts.append(f"stage {progress.stage} of {progress.stages}")
            parts.append(f"{progress.tasks_done:,} of {counted(progress.tasks, 'task')}")
        else:
            parts.append("no Spark job at the moment")
        parts += _volume("read", progress.rows_read, progress.bytes_read)
        if progress.shuffle_bytes:
            parts.append(f"shuffled {size(progress.shuffle_bytes)}")
        parts += _volume("wrote", progress.rows_written, progress.bytes_written)
    return ", ".join(parts)


def short_name(node: str) -> str:
    """A node's name, from its unique id (`model.shop.orders`); any other string unchanged."""
    kind, *parts = node.split(".")
    if len(parts) < 2:
        # dbt names a connection that lists a catalog or schema `list_paimon_analytics`.
        return f"listing {node.removeprefix('list_')}" if node.startswith("list_") else node
    # A test's id ends with a hash.
    return parts[1] if kind in ("test", "operation") else ".".join(parts[1:])


def _volume(verb: str, rows: int | None, volume: int | None) -> list[str]:
    if rows:
        return [f"{verb} {roughly_rows(rows)}{f' ({size(volume)})' if volume else ''}"]
    return [f"{verb} {size(volume)}"] if volume else []


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"
