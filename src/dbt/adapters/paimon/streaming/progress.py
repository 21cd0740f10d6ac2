"""Logs each batch of a stream, and adds up the stream's totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dbt.adapters.contracts.connection import AdapterResponse
from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.paimon.formatting import counted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from dbt.adapters.paimon.streaming.inputs import Input

logger = AdapterLogger("Paimon")


@dataclass
class Totals:
    """The totals of one query, or of all queries of a run."""

    rows: int = 0
    batches: int = 0
    dead_letters: int = 0
    late: int = 0

    def add(self, written: Totals) -> None:
        self.batches += written.batches
        self.dead_letters += written.dead_letters

    def response(self) -> AdapterResponse:
        """The adapter response that dbt shows for a model."""
        read = f"{counted(self.rows, 'row')} read in {self.batches:,} {'batch' if self.batches == 1 else 'batches'}"
        dead = f", {counted(self.dead_letters, 'dead letter')}" if self.dead_letters else ""
        late = f", {self.late:,} late" if self.late else ""
        return AdapterResponse(f"{read}{dead}{late}", rows_affected=self.rows)


def log_batch(
    model: str, inputs: Sequence[Input], session: SparkSession, totals: Totals, progress: Mapping[str, Any]
) -> None:
    """Log a batch that has ended, and add its rows to `totals`; `progress` is a StreamingQueryProgress."""
    batch, sources = progress["batchId"], list(zip(inputs, progress["sources"], strict=False))
    rows = sum(each.rows_of(batch, source) for each, source in sources)
    late = sum(each.late_rows(batch) for each in inputs)
    totals.rows += rows
    totals.late += late
    seconds = progress["durationMs"].get("triggerExecution", 0) / 1000
    dropped = f", {late:,} of them late" if late else ""
    lags = [lag for each, source in sources if (lag := each.lag(session, source)) is not None]
    behind = f", {sum(lags):,} behind" if lags else ""
    logger.info(
        f"{model}: batch {batch}: {counted(rows, 'row')}{dropped} in {seconds:.1f} s, {totals.rows:,} in all{behind}"
    )
