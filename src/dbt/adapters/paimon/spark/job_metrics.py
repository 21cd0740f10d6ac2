"""Metrics and progress of a statement's Spark jobs, from the status store of the embedded Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dbt.adapters.paimon.sql.scala import elements

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Milliseconds to wait until Spark has processed the events of a completed statement.
_EVENTS_TIMEOUT_MS: Final = 500
# With more stages than this, a statement's metrics are not read: each stage takes a few calls into the JVM.
_MAX_STAGES: Final = 200
# org.apache.spark.status.api.v1.StageStatus.
_ACTIVE, _PENDING, _SKIPPED = "ACTIVE", "PENDING", "SKIPPED"


@dataclass(frozen=True)
class JobMetrics:
    """Metrics of a statement's Spark jobs; `seconds` is the total run time of all tasks."""

    job_ids: tuple[int, ...] = ()
    seconds: float | None = None
    shuffle_bytes: int | None = None
    spill_bytes: int | None = None


@dataclass(frozen=True)
class Progress:
    """Job progress; None where unknown.

    Attributes:
        stage: number of stages that have started.
        stages: number of known stages; adaptive execution adds more.
        tasks_done: completed tasks of the running stages.
        tasks: tasks of the running stages; 0 if no job is running.
        rows_read: rows read by completed tasks and, on a cluster, by running tasks. The same applies to the metrics
            below.
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
    """The metrics of the jobs with a tag; None if Spark is too busy to have collected them."""
    context: Any = session.sparkContext._jsc.sc()
    try:
        context.listenerBus().waitUntilEmpty(_EVENTS_TIMEOUT_MS)
    except Exception:  # noqa: BLE001 - a java.util.concurrent.TimeoutException, raised through py4j
        return None
    jobs = tuple(sorted(context.statusTracker().getJobIdsForTag(tag)))
    store = context.statusStore()
    # Jobs share a stage if one reuses the other's shuffle files.
    stages = {number for job in jobs for number in elements(store.job(job).stageIds())}
    if len(stages) > _MAX_STAGES:
        return JobMetrics(jobs)
    known = [stage for number in stages if (stage := _stage(store, number)) is not None]
    return JobMetrics(
        jobs,
        sum(stage.executorRunTime() for stage in known) / 1000,
        sum(stage.shuffleWriteBytes() for stage in known),
        sum(stage.diskBytesSpilled() for stage in known),
    )


def job_progress(session: SparkSession, tag: str, since: float) -> Progress:
    """The progress of the jobs with a tag that were submitted after `since` (epoch seconds)."""
    started, upcoming = _stages_since(session.sparkContext._jsc.sc(), tag, since)
    active = [stage for stage in started.values() if _state(stage) == _ACTIVE]

    def total(metric: str) -> int:
        return sum(getattr(stage, metric)() for stage in started.values())

    return Progress(
        stage=len(started),
        stages=len(started.keys() | upcoming),
        tasks_done=sum(stage.numCompleteTasks() for stage in active),
        tasks=sum(stage.numTasks() for stage in active),
        rows_read=total("inputRecords"),
        bytes_read=total("inputBytes"),
        rows_written=total("outputRecords"),
        bytes_written=total("outputBytes"),
        shuffle_bytes=total("shuffleWriteBytes"),
    )


def _stages_since(context: Any, tag: str, since: float) -> tuple[dict[int, Any], set[int]]:
    """The jobs' stages that have started, by id, and the ids of the stages still to run."""
    started: dict[int, Any] = {}
    upcoming: set[int] = set()
    for job in _jobs_since(context, tag, since):
        numbers = elements(job.stageIds())[:_MAX_STAGES]
        stages = {number: _stage(context.statusStore(), number) for number in numbers}
        states = {number: _state(stage) for number, stage in stages.items()}
        running, pending = _in_state(states, _ACTIVE), _in_state(states, _PENDING)
        # A pending stage before a running one will be skipped, because an earlier job computed its rows.
        upcoming |= {number for number in pending if running and number > min(running)}
        started |= {number: stages[number] for number in states if states[number] not in (_PENDING, _SKIPPED)}
        if len(started) > _MAX_STAGES:
            break
    return started, upcoming


def _jobs_since(context: Any, tag: str, since: float) -> Iterator[Any]:
    """The jobs with a tag that were submitted after `since` (epoch seconds), newest first."""
    for number in sorted(context.statusTracker().getJobIdsForTag(tag), reverse=True):
        job = context.statusStore().job(number)
        submitted = job.submissionTime()
        if submitted.isDefined() and submitted.get().getTime() < since * 1000:
            return
        yield job


def _in_state(states: Mapping[int, str], wanted: str) -> list[int]:
    return [number for number, state in states.items() if state == wanted]


def _state(stage: Any) -> str:
    return str(stage.status()) if stage is not None else _SKIPPED


def _stage(store: Any, number: int) -> Any:
    """A stage, or None if Spark no longer keeps it (spark.ui.retainedStages); skipped stages are removed first."""
    try:
        return store.lastStageAttempt(number)
    except Exception:  # noqa: BLE001 - a java.util.NoSuchElementException, raised through py4j
        return None
