"""Metrics and progress of a statement's Spark jobs, from the embedded Spark's own status store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.paimon.sql.scala import elements

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Milliseconds to wait for the events of a statement that has ended.
_EVENTS: Final = 500
# A statement with more stages than this is reported without what they used: each costs a few calls into the JVM.
_MOST_STAGES: Final = 200
# org.apache.spark.status.api.v1.StageStatus.
_ACTIVE, _PENDING, _SKIPPED = "ACTIVE", "PENDING", "SKIPPED"
_NOT_BEGUN: Final = (_PENDING, _SKIPPED)


@dataclass(frozen=True)
class JobMetrics:
    """Metrics of a statement's Spark jobs.

    Attributes:
        job_ids: Spark's jobs, oldest first.
        seconds: total run time of all tasks.
        shuffle_bytes: written for shuffles.
        spill_bytes: spilled to disk.
    """

    job_ids: tuple[int, ...] = ()
    seconds: float | None = None
    shuffle_bytes: int | None = None
    spill_bytes: int | None = None


@dataclass(frozen=True)
class Progress:
    """Job progress; None where unknown.

    Attributes:
        stage: number of stages that have begun.
        stages: number of known stages; adaptive execution adds more.
        tasks_done: ended tasks of the running stages.
        tasks: tasks of the running stages; 0 if no job runs.
        rows_read: from tables and files, by ended tasks; a cluster's executors report running ones, too.
        bytes_read: likewise.
        rows_written: likewise.
        bytes_written: likewise.
        shuffle_bytes: written for shuffles.
    """

    stage: int = 0
    stages: int = 0
    tasks_done: int = 0
    tasks: int = 0
    rows_read: int | None = None
    bytes_read: int | None = None
    rows_written: int | None = None
    bytes_written: int | None = None
    shuffle_bytes: int | None = None


def by_tag(session: SparkSession, tag: str) -> JobMetrics | None:
    """The metrics of the jobs with a tag; None if Spark is too busy to have counted them."""
    context: Any = session.sparkContext._jsc.sc()
    try:
        context.listenerBus().waitUntilEmpty(_EVENTS)
    except Exception:  # noqa: BLE001 - java.util.concurrent.TimeoutException, by py4j
        return None
    jobs = tuple(sorted(context.statusTracker().getJobIdsForTag(tag)))
    store = context.statusStore()
    stages = [number for job in jobs for number in elements(store.job(job).stageIds())]
    if len(stages) > _MOST_STAGES:
        return JobMetrics(jobs)
    milliseconds = shuffled = spilled = 0
    for number in stages:
        stage = _stage(store, number)
        if stage is None:
            continue
        milliseconds += stage.executorRunTime()
        shuffled += stage.shuffleWriteBytes()
        spilled += stage.diskBytesSpilled()
    return JobMetrics(jobs, milliseconds / 1000, shuffled, spilled)


def job_progress(session: SparkSession, tag: str, since: float) -> Progress:
    """The progress of the jobs with a tag that were submitted since a time in epoch seconds."""
    context: Any = session.sparkContext._jsc.sc()
    store = context.statusStore()
    stages: dict[int, Any] = {}
    coming: set[int] = set()
    for number in sorted(context.statusTracker().getJobIdsForTag(tag), reverse=True):
        job = store.job(number)
        submitted = job.submissionTime()
        if submitted.isDefined() and submitted.get().getTime() < since * 1000:
            break
        of_job = [(each, _stage(store, each)) for each in elements(job.stageIds())[:_MOST_STAGES]]
        states = {each: _state(stage) for each, stage in of_job}
        running = [each for each, state in states.items() if state == _ACTIVE]
        # One that waits before a running one will be skipped: its rows are there from an earlier job.
        coming |= {
            each for each, state in states.items() if state == _PENDING and running and each > min(running)
        }
        stages |= {each: stage for each, stage in of_job if states[each] not in _NOT_BEGUN}
        if len(stages) > _MOST_STAGES:
            break
    active = [stage for stage in stages.values() if _state(stage) == _ACTIVE]
    return Progress(
        stage=len(stages),
        stages=len(stages.keys() | coming),
        tasks_done=sum(stage.numCompleteTasks() for stage in active),
        tasks=sum(stage.numTasks() for stage in active),
        rows_read=sum(stage.inputRecords() for stage in stages.values()),
        bytes_read=sum(stage.inputBytes() for stage in stages.values()),
        rows_written=sum(stage.outputRecords() for stage in stages.values()),
        bytes_written=sum(stage.outputBytes() for stage in stages.values()),
        shuffle_bytes=sum(stage.shuffleWriteBytes() for stage in stages.values()),
    )


def _state(stage: Any) -> str:
    return str(stage.status()) if stage is not None else _SKIPPED


def _stage(store: Any, number: int) -> Any:
    """A stage; None for a skipped one, which Spark forgets first (spark.ui.retainedStages)."""
    try:
        return store.lastStageAttempt(number)
    except Exception:  # noqa: BLE001 - java.util.NoSuchElementException, by py4j
        return None
