"""Progress of a Spark Connect server, from the messages that it sends while a statement runs (from Spark 4.0)."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from dbt.adapters.paimon.spark.job_metrics import Progress


class ProgressMessages:
    """A PySpark progress handler that keeps the latest message of a session."""

    def __init__(self) -> None:
        self._received_at = 0.0
        # pyspark.sql.connect.shell.progress.StageInfo, which PySpark 3.5 lacks.
        self._stages: list[Any] = []
        self._running = 0

    def __call__(self, stages: Iterable[Any] | None, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
        self._received_at, self._stages, self._running = time.time(), list(stages or ()), inflight_tasks

    def since(self, began: float) -> Progress | None:
        """Progress without row counts; None if there was no message since `began` (epoch seconds)."""
        if self._received_at < began:
            return None

        def total(field: str, stages: Iterable[Any]) -> int:
            return sum(getattr(stage, field) for stage in stages)

        open_stages = [stage for stage in self._stages if not stage.done]
        tasks_done = total("num_completed_tasks", open_stages)
        begun = sum(stage.done or stage.num_completed_tasks > 0 for stage in self._stages)
        if self._running and not tasks_done:
            begun += 1
        return Progress(
            stage=min(len(self._stages), begun),
            stages=len(self._stages),
            tasks_done=tasks_done,
            tasks=total("num_tasks", open_stages),
            bytes_read=total("num_bytes_read", self._stages) or None,
        )

    def listen(self, session: Any) -> None:
        """Register with a session, if this PySpark supports it."""
        if hasattr(session, "registerProgressHandler"):
            session.registerProgressHandler(self)

    def leave(self, session: Any) -> None:
        if hasattr(session, "removeProgressHandler"):
            session.removeProgressHandler(self)
