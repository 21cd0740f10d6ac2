"""What Spark did for a statement: its jobs, and what they used, from the embedded Spark's own status store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Milliseconds to wait for the events of a statement that has ended.
_EVENTS: Final = 500
# A statement with more stages than this is reported without what they used: each costs a few calls into the JVM.
_MOST_STAGES: Final = 200


@dataclass(frozen=True)
class Work:
    """What Spark did for a statement.

    Attributes:
        job_ids: Spark's jobs, oldest first.
        seconds: run time of all tasks, added up; None if it is not known.
        shuffle_bytes: written for shuffles.
        spill_bytes: spilled to disk.
    """

    job_ids: tuple[int, ...] = ()
    seconds: float | None = None
    shuffle_bytes: int | None = None
    spill_bytes: int | None = None


def by_tag(session: SparkSession, tag: str) -> Work | None:
    """The work of the jobs with a tag; None if Spark is too busy to have counted it.

    Raises:
        Exception: this Spark cannot be asked in this way.
    """
    context: Any = session.sparkContext._jsc.sc()
    try:
        context.listenerBus().waitUntilEmpty(_EVENTS)
    except Exception:  # noqa: BLE001 - java.util.concurrent.TimeoutException, by py4j
        return None
    jobs = tuple(sorted(context.statusTracker().getJobIdsForTag(tag)))
    store = context.statusStore()
    stages = [number for job in jobs for number in _numbers(store.job(job).stageIds())]
    if len(stages) > _MOST_STAGES:
        return Work(jobs)
    milliseconds = shuffled = spilled = 0
    for number in stages:
        stage = _stage(store, number)
        if stage is None:
            continue
        milliseconds += stage.executorRunTime()
        shuffled += stage.shuffleWriteBytes()
        spilled += stage.diskBytesSpilled()
    return Work(jobs, milliseconds / 1000, shuffled, spilled)


def _stage(store: Any, number: int) -> Any:
    """A stage; None for one that was skipped, which is the first that Spark forgets (spark.ui.retainedStages)."""
    try:
        return store.lastStageAttempt(number)
    except Exception:  # noqa: BLE001 - java.util.NoSuchElementException, by py4j
        return None


def _numbers(sequence: Any) -> list[int]:
    return [sequence.apply(index) for index in range(sequence.size())]
