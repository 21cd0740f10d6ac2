"""Timeout for statements without a Spark job: logs them after half a minute, and ends them at a limit.

Between Spark jobs, a statement plans, commits and deletes files. Paimon 0.9 retries a commit for as long as other
writers commit first (FileStoreCommitImpl.tryCommit and tryOverwrite; from 1.0 at most `commit.max-retries` times), and
a catalog or a store may not answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Final

from dbt.adapters.paimon.machine.waiting import Wait, WaitedTooLongError, ended_by
from dbt.adapters.paimon.spark.handles import Handle
from dbt.adapters.paimon.spark.launch import jvm_process

# Seconds between checks.
LOOK_EVERY: Final = 10.0
# Seconds until the JVM of an interrupted statement is killed.
INTERRUPT_TIMEOUT: Final = 60.0
_MAX_SHOWN: Final = 100


@contextmanager
def watched(handle: Handle, sql: str, bound: float) -> Iterator[None]:
    """Watch a statement, and end it after `bound` seconds without a Spark job; `sql` is shown in the log.

    The statement's table is then in its old or its new state, never in between.
    """
    over = Event()
    ended: list[WaitedTooLongError] = []

    def watch() -> None:
        wait = _wait(sql, bound)
        while not over.wait(min(LOOK_EVERY, wait.left + 0.01)):
            with suppress(Exception):
                if handle.is_busy():
                    wait = _wait(sql, bound)
            try:
                wait.check()
            except WaitedTooLongError as exc:
                ended.append(exc)
                with suppress(Exception):
                    handle.interrupt()
                if not over.wait(INTERRUPT_TIMEOUT):
                    jvm_process.end("A statement without a Spark job could not be stopped in any other way.")
                return

    handle.statement_begins()
    Thread(target=watch, name="stalls", daemon=True).start()
    try:
        with ended_by(ended, over):
            yield
    finally:
        if ended:
            with suppress(Exception):
                handle.statement_ended()


def _wait(sql: str, bound: float) -> Wait:
    text = " ".join(sql.split())
    shown = text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"
    return Wait(
        f"a statement without a Spark job: {shown}",
        bound,
        "It was stopped, and its table is in its old state or its new one. Either other writers kept "
        "committing first (see the table's $snapshots), or the catalog or the storage does not answer. Run "
        "again when that is over. If the statement was only slow, raise `stall_timeout` in the profile.",
    )
