"""Runs dbt in a process that kills itself and its JVM (SIGKILL to the process group) at a given point.

python -m faults.killed_run POINT dbt-arguments…, where POINT is JSON:
  table, statement: the statements that name the table and match this regular expression;
  when: `before` or `after` the first of them, or `during` it, `delay` seconds after its start; or
  table, rows, when: the same for the rows of a view's refresh, which the adapter's own writer commits; or
  table, moment: a moment in a stream's first batch (see functional/streaming/killed_stream.py); or
  after_seconds: this long after the first statement that writes;
  driver_only: kill only Python, so that the JVM has to notice;
  freeze: stop the processes (SIGSTOP) instead, until a SIGCONT;
  command: the project's command that is killed (see house.py); not read here;
  two_renames: swap tables by two renames, as for a catalog that cannot exchange two tables in one step.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
import time
from typing import Any

from dbt.cli.main import cli

from dbt.adapters.paimon.spark import row_writer
from dbt.adapters.paimon.spark.session import SessionCursor
from dbt.adapters.paimon.writing import swaps
from functional.streaming import killed_stream

WRITES = re.compile(r"^\s*(?:/\*.*?\*/\s*)*(insert|merge|create|alter|drop|call)\b", re.IGNORECASE | re.DOTALL)


def die(point: dict[str, Any]) -> None:
    """Kill or stop the processes at once, without any cleanup."""
    sign = signal.SIGSTOP if point.get("freeze") else signal.SIGKILL
    if point.get("driver_only"):
        os.kill(os.getpid(), sign)
    else:
        os.killpg(0, sign)


def die_after(seconds: float, point: dict[str, Any]) -> None:
    """Die after some seconds; until then, the process goes on."""

    def die_then() -> None:
        time.sleep(seconds)
        die(point)

    threading.Thread(target=die_then, daemon=True).start()


def _watch_rows(point: dict[str, Any]) -> None:
    write = row_writer.write

    def watched(frame: Any, table: Any, options: Any) -> None:
        mine = table.name() == point["table"]
        if mine and point["when"] == "before":
            die(point)
        if mine and point["when"] == "during":
            die_after(point["delay"], point)
        write(frame, table, options)
        if mine and point["when"] == "after":
            die(point)

    row_writer.write = watched


def watch(point: dict[str, Any]) -> None:
    """Intercept what dbt sends to Spark, to die at the point."""
    if "moment" in point:
        killed_stream.watch(point["table"], 0, point["moment"])
        return
    if "rows" in point:
        _watch_rows(point)
        return
    run = SessionCursor._run
    started = threading.Lock()

    def watched(cursor: SessionCursor, statement: str, *args: Any) -> None:
        if "after_seconds" in point:
            if WRITES.match(statement) and started.acquire(blocking=False):
                die_after(point["after_seconds"], point)
            run(cursor, statement, *args)
            return
        mine = re.search(rf"[`.]{point['table']}(__dbt_\w+|\$branch_\w+)?[`']", statement) and re.search(
            point["statement"], statement, re.IGNORECASE | re.DOTALL
        )
        if mine and point["when"] == "before":
            die(point)
        if mine and point["when"] == "during":
            die_after(point["delay"], point)
        run(cursor, statement, *args)
        if mine and point["when"] == "after":
            die(point)

    SessionCursor._run = watched  # type: ignore[method-assign]
    if point.get("two_renames"):
        swaps.exchange = lambda one, other: False


if __name__ == "__main__":
    watch(json.loads(sys.argv[1]))
    cli(sys.argv[2:])
