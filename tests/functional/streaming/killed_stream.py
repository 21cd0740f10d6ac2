"""Runs dbt, and kills it and its JVM (SIGKILL to the process group) at one moment of a stream.

python killed_stream.py POINT dbt-arguments…, where POINT is JSON:
  table: the table of the stream;
  batch: the number of the batch in this process, from 0;
  moment: `begun`, `before` or `after` the batch's rows are written (Spark does not know yet), or `planned` (the first
    reads of any stream are planned; table and batch do not matter).
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

from dbt.cli.main import cli

from dbt.adapters.paimon.streaming.batches import BatchWriter
from dbt.adapters.paimon.streaming.sources.paimon_tables import PaimonTableInput


def watch(table: str, batch: int, moment: str) -> None:
    """Patch the classes of streams so that the process kills itself at this moment."""
    write, insert, plan = BatchWriter._write, BatchWriter._insert, PaimonTableInput.plan

    def pass_by(writer: BatchWriter, here: str) -> None:
        if f"`{table}`" in str(writer.sink.table) and writer.written.batches == batch and moment == here:
            os.killpg(0, signal.SIGKILL)

    def watched_write(writer: BatchWriter, *args: Any) -> None:
        pass_by(writer, "begun")
        write(writer, *args)

    def watched_insert(writer: BatchWriter, *args: Any) -> None:
        pass_by(writer, "before")
        insert(writer, *args)
        pass_by(writer, "after")

    def watched_plan(opened: PaimonTableInput, *args: Any) -> None:
        plan(opened, *args)
        if moment == "planned":
            os.killpg(0, signal.SIGKILL)

    BatchWriter._write = watched_write  # type: ignore[method-assign]
    BatchWriter._insert = watched_insert  # type: ignore[method-assign]
    PaimonTableInput.plan = watched_plan  # type: ignore[method-assign]


if __name__ == "__main__":
    watch(**json.loads(sys.argv[1]))
    cli(sys.argv[2:])
