"""Logs each batch of a stream and adds up its totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dbt.adapters.contracts.connection import AdapterResponse
from dbt.adapters.events.logging import AdapterLogger

from dbt.adapters.paimon.spark.formatting import counted

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


@dataclass
class Watch:
    """Logs a query's batches as they end."""

    model: str
    inputs: Sequence[Input]
    session: SparkSession
    totals: Totals

    def report(self, progress: Mapping[str, Any]) -> None:
        """Log a batch that has ended; `progress` is a StreamingQueryProgress."""
        rows = sum(
            each.rows_of(progress["batchId"], source)
            for each, source in zip(self.inputs, progress["sources"], strict=False)
        )
        self.totals.rows += rows
        late = sum(each.late_rows(progress["batchId"]) for each in self.inputs)
        self.totals.late += late
        seconds = progress["durationMs"].get("triggerExecution", 0) / 1000
        dropped = f", {late:,} of them late" if late else ""
        done = f"{counted(rows, 'row')}{dropped} in {seconds:.1f} s, {self.totals.rows:,} in all"
        logger.info(f"{self.model}: batch {progress['batchId']}: {done}{self._behind(progress['sources'])}")

    def _behind(self, sources: Sequence[Mapping[str, Any]]) -> str:
        lags = [each.lag(self.session, source) for each, source in zip(self.inputs, sources, strict=False)]
        known = [lag for lag in lags if lag is not None]
        return f", {sum(known):,} behind" if known else ""
