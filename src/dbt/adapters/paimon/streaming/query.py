"""Runs a streaming query from start to end."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.events.logging import AdapterLogger
from dbt_common.exceptions import DbtRuntimeError

from dbt.adapters.paimon.errors import messages
from dbt.adapters.paimon.spark.launch import jvm_exit
from dbt.adapters.paimon.sql.scala import elements
from dbt.adapters.paimon.streaming.batches import BatchWriter, UnexpectedMessageError
from dbt.adapters.paimon.streaming.checkpoints import Checkpoint
from dbt.adapters.paimon.streaming.inputs import UnavailableError
from dbt.adapters.paimon.streaming.long_running import STOP, Trigger

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

logger = AdapterLogger("Paimon")

# Seconds between two checks of a query: its progress, and whether it has to end.
_CHECK_INTERVAL: Final = 1
# Seconds within which the current batch may finish once its query has to end. The next run repeats an aborted batch.
_GRACE_PERIOD: Final = 60
# Nodes of an analyzed plan that combine rows of two inputs.
_JOINS: Final = ("Join", "Except", "Intersect")
# Nodes that read all rows of their input.
_READING_ALL: Final = frozenset(
    "Project Filter SubqueryAlias View Aggregate Distinct Sort Window Generate CTERelationDef".split()
)


def _raise_permanent(exc: Exception, is_restart: bool) -> None:
    """Raise the error if restarting the query would not help."""
    # A source that does not respond at the first attempt counts as a permanent failure.
    if isinstance(exc, DbtRuntimeError) and not (is_restart and isinstance(exc, UnavailableError)):
        raise exc
    if ended := jvm_exit.error(exc):
        raise ended from exc


@dataclass(frozen=True)
class Query:
    """A streaming query.

    Attributes:
        report: called with the progress of each batch (StreamingQueryProgress).
        look: plans the rows that have arrived; a long-running query calls it every `trigger.seconds`.
    """

    writer: BatchWriter
    checkpoint: Checkpoint
    name: str
    trigger: Trigger
    report: Callable[[Mapping[str, Any]], None]
    look: Callable[[], None]

    def run(self, frame: Callable[[], DataFrame]) -> None:
        """Run until the query has read everything that existed at its start, or has to end.

        A long-running query is restarted if a source or the store fails, after increasing pauses; a successful batch
        resets the pauses. `frame` returns the streaming frame of raw rows.

        Raises:
            DbtRuntimeError: the query was cancelled, `writer` refused a batch, or Spark's JVM has ended.
        """
        trigger, writer = self.trigger, self.writer
        if not trigger.processing_time and STOP.is_set():
            raise self._cancelled()
        pauses, written = list(trigger.pauses), writer.written.batches
        failed = False
        while True:
            try:
                if failed:
                    writer.unfinished, writer.failure = self.checkpoint.unfinished_batch(), None
                self._run(frame())
            except Exception as exc:  # noqa: PERF203 - a few attempts
                if isinstance(exc, UnexpectedMessageError):
                    # The batch's statement failed before its commit, so there is no commit to look for.
                    writer.in_one_pass, writer.failure = False, None
                    continue
                _raise_permanent(exc, failed)
                if writer.written.batches > written:
                    pauses, written = list(trigger.pauses), writer.written.batches
                if not pauses or STOP.is_set():
                    raise
                pause = pauses.pop(0)
                reason = messages.shorten(messages.error_text(exc))
                logger.warning(f"{self.name}: {reason}\nRetrying in {pause} s")
                failed = True
                STOP.wait(pause)
            else:
                return

    def _run(self, frame: DataFrame) -> None:
        from pyspark.errors import StreamingQueryException

        stream = frame.writeStream.foreachBatch(self.writer).queryName(self.name)
        stream = stream.option("checkpointLocation", self.checkpoint.location)
        every = self.trigger.processing_time
        started = (stream.trigger(processingTime=every) if every else stream.trigger(availableNow=True)).start()
        try:
            self._follow(started)
        except StreamingQueryException as exc:
            raise (self.writer.failure or exc) from exc
        finally:
            if started.isActive:
                started.stop()

    def _follow(self, started: Any) -> None:
        """Report the batches of a started query until it ends, or until it has to be stopped."""
        trigger, is_long_running = self.trigger, bool(self.trigger.processing_time)
        reported, looked_at = -1, time.monotonic()
        # Set once the query has to end: the last batch finished by then, and the deadline of the current batch.
        ending: tuple[int, float] | None = None
        while not self._has_ended(started, reported):
            reported = self._report_progress(started, reported)
            if trigger.is_cancelled():
                raise self._cancelled()
            if is_long_running and time.monotonic() > looked_at + trigger.seconds:
                self.look()
                looked_at = time.monotonic()
            if not STOP.is_set():
                continue
            ending = ending or (self.checkpoint.last_batch(), time.monotonic() + _GRACE_PERIOD)
            if not self._may_stop(started, *ending):
                continue
            if not is_long_running:
                # If the node succeeded here, its incomplete table would count as complete.
                raise self._cancelled()
            # No return here: the last batch of a stopped query is also reported.
            started.stop()
            break
        self._report_progress(started, reported)

    def _has_ended(self, started: Any, reported: int) -> bool:
        """Wait for a moment, and return whether the query has ended. If it failed, report its last batches first."""
        try:
            return bool(started.awaitTermination(_CHECK_INTERVAL))
        except Exception:
            with suppress(Exception):
                self._report_progress(started, reported)
            raise

    def _may_stop(self, started: Any, last_batch: int, deadline: float) -> bool:
        """Whether a query may be stopped: its batch has finished, it waits for rows, or the deadline has passed."""
        if self.trigger.processing_time and not started.status["isTriggerActive"]:
            return True
        # If rows keep coming, the query never waits: it may then be stopped after a batch has finished.
        return time.monotonic() > deadline or self.checkpoint.last_batch() > last_batch

    def _report_progress(self, started: Any, reported: int) -> int:
        """Report the batches after batch `reported`; returns the last reported batch."""
        for progress in started.recentProgress:
            if progress["batchId"] > reported and progress["numInputRows"]:
                reported = progress["batchId"]
                self.report(progress)
        return reported

    def _cancelled(self) -> DbtRuntimeError:
        return DbtRuntimeError(
            f"{self.name}: stopped before it had read everything. The batches written so far are complete, and the "
            "next run continues from there."
        )


def reads_every_row(plan: Any) -> bool:
    """Whether a query reads one stream only, and each of its rows exactly once. `plan`: its analyzed plan."""
    name, below = plan.nodeName(), elements(plan.children())
    if not below:
        return name == "CTERelationRef" or bool(plan.isStreaming())
    if name == "WithCTE":
        return all(map(reads_every_row, below))
    return len(below) == 1 and name in _READING_ALL and reads_every_row(below[0])


def refuse_joins_of_streams(plan: Any, model: str) -> None:
    """Refuse to join two streams: rows of a batch would only be joined with rows of the same batch.

    IN, EXISTS, EXCEPT and INTERSECT count as joins, too. `plan`: the analyzed plan over streaming frames.
    """
    below, nested = elements(plan.children()), elements(plan.subqueries())
    joined = plan.nodeName() in _JOINS and all(child.isStreaming() for child in below)
    if joined or (plan.isStreaming() and any(query.isStreaming() for query in nested)):
        raise DbtRuntimeError(
            f"model '{model}': it joins two streams, but a row of one would only match rows of the other "
            "in the same batch. Write each stream into its own table and join the tables, or read both with UNION ALL "
            "in one model that fills the same rows from both (merge_engine='partial-update')."
        )
    for child in (*below, *nested):
        refuse_joins_of_streams(child, model)
