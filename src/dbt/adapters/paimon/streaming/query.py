"""Runs a streaming query from start to end."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.errors import messages
from dbt.adapters.paimon.spark.launch import jvm_exit
from dbt.adapters.paimon.sql.scala import elements
from dbt.adapters.paimon.streaming.batches import BatchWriter
from dbt.adapters.paimon.streaming.checkpoints import Checkpoint
from dbt.adapters.paimon.streaming.inputs import UnavailableError
from dbt.adapters.paimon.streaming.long_running import Trigger

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

logger = AdapterLogger("Paimon")

# Seconds between two checks of a query's progress, and of whether it has to end.
_LOOK_EVERY: Final = 1
# Seconds that the current batch gets to finish once its query has to end; an aborted one is repeated by the next run.
_LONGEST_BATCH: Final = 60
# Nodes of an analyzed plan that combine rows of two inputs.
_JOINS: Final = ("Join", "Except", "Intersect")


def run(
    frame: Callable[[], DataFrame],
    writer: BatchWriter,
    checkpoint: Checkpoint,
    *,
    name: str,
    trigger: Trigger,
    report: Callable[[Mapping[str, Any]], None],
    look: Callable[[], None],
) -> None:
    """Run a query until it has read everything that was there at its start, or until it has to end.

    A long-running query is restarted if a source or the store fails, after increasing pauses; a successful batch resets
    the pauses.

    Args:
        frame: returns the streaming frame of raw rows.
        name: the name of the query in Spark's UI.
        report: called with the progress of each batch (StreamingQueryProgress).
        look: called each time a long-running query looks for rows.

    Raises:
        DbtRuntimeError: it was cancelled, `writer` refused a batch, or Spark's JVM has ended.
    """
    if not trigger.processing_time and trigger.is_to_end():
        raise _cancelled(name)
    pauses, written = list(trigger.pauses), writer.written.batches
    failed = False
    while True:
        try:
            if failed:
                writer.prepare_restart(checkpoint.unfinished_batch())
            _run(frame(), writer, checkpoint, name, trigger, report, look)
        except Exception as exc:  # noqa: PERF203 - a few attempts
            # A source that does not answer at the first attempt is not a temporary failure.
            if isinstance(exc, DbtRuntimeError) and not (failed and isinstance(exc, UnavailableError)):
                raise
            if ended := jvm_exit.error(exc):
                raise ended from exc
            if writer.written.batches > written:
                pauses, written = list(trigger.pauses), writer.written.batches
            if not pauses or trigger.is_to_end():
                raise
            pause = pauses.pop(0)
            logger.warning(f"{name}: {messages.shorten(messages.error_text(exc))}\nRetrying in {pause} s")
            failed = True
            trigger.wait(pause)
        else:
            return


def _run(
    frame: DataFrame,
    writer: BatchWriter,
    checkpoint: Checkpoint,
    name: str,
    trigger: Trigger,
    report: Callable[[Mapping[str, Any]], None],
    look: Callable[[], None],
) -> None:
    from pyspark.errors import StreamingQueryException

    stream = (
        frame.writeStream.foreachBatch(writer)
        .queryName(name)
        .option("checkpointLocation", checkpoint.location)
    )
    every = trigger.processing_time
    started = (stream.trigger(processingTime=every) if every else stream.trigger(availableNow=True)).start()
    reported, ending, looked_at = -1, None, time.monotonic()
    try:
        while not started.awaitTermination(_LOOK_EVERY):
            reported = _report_progress(started, reported, report)
            if trigger.is_cancelled():
                raise _cancelled(name)
            if every and time.monotonic() > looked_at + trigger.seconds:
                look()
                looked_at = time.monotonic()
            if not trigger.is_to_end():
                continue
            ending = ending or _Ending(checkpoint)
            if not ending.is_over and (not every or started.status["isTriggerActive"]):
                continue
            if not every:
                # An incomplete table must not be taken for a complete one.
                raise _cancelled(name)
            # After this, it reports the last batch, too.
            started.stop()
            break
        _report_progress(started, reported, report)
    except StreamingQueryException as exc:
        raise (writer.failure or exc) from exc
    finally:
        if started.isActive:
            started.stop()


class _Ending:
    """Ends a query once its current batch has finished."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._checkpoint = checkpoint
        self._last_batch = checkpoint.last_batch()
        self._since = time.monotonic()

    @property
    def is_over(self) -> bool:
        """Whether the batch has finished, or has taken too long."""
        if time.monotonic() > self._since + _LONGEST_BATCH:
            return True
        # If rows keep coming, batches follow one another and the query is never idle.
        return self._checkpoint.last_batch() > self._last_batch


def refuse_joins_of_streams(plan: Any, model: str) -> None:
    """Refuse to join two streams: rows of a batch would only be joined with rows of the same batch.

    IN, EXISTS, EXCEPT and INTERSECT count as joins, too. `plan`: the analyzed plan over streaming frames.
    """
    below, nested = elements(plan.children()), elements(plan.subqueries())
    joined = plan.nodeName() in _JOINS and all(child.isStreaming() for child in below)
    if joined or (plan.isStreaming() and any(query.isStreaming() for query in nested)):
        raise DbtRuntimeError(
            f"model '{model}': it joins two streams, and a row of one would only match those of the other "
            "that come in the same batch. Write each into a table of its own and join those, or let both "
            "models fill one row (merge_engine='partial-update')."
        )
    for child in (*below, *nested):
        refuse_joins_of_streams(child, model)


def _cancelled(name: str) -> DbtRuntimeError:
    return DbtRuntimeError(
        f"{name}: stopped before it had read everything. What it wrote is complete, and the next run "
        "continues from there."
    )


def _report_progress(query: Any, reported: int, report: Callable[[Mapping[str, Any]], None]) -> int:
    """Report the batches since the last reported one; returns the last one."""
    for progress in query.recentProgress:
        if progress["batchId"] > reported and progress["numInputRows"]:
            reported = progress["batchId"]
            report(progress)
    return reported
