"""The metrics of a statement's Spark jobs."""

from __future__ import annotations

from types import SimpleNamespace
from unittest.mock import MagicMock

from dbt.adapters.paimon.spark.job_metrics import JobMetrics, by_tag


def scala(*items: int) -> SimpleNamespace:
    return SimpleNamespace(size=lambda: len(items), apply=lambda index: items[index])


def test_a_stage_of_two_jobs_counts_once():
    stages = {1: scala(10, 11), 2: scala(11, 12)}
    stage = SimpleNamespace(executorRunTime=lambda: 1000, shuffleWriteBytes=lambda: 5, diskBytesSpilled=lambda: 7)
    session = MagicMock()
    context = session.sparkContext._jsc.sc.return_value
    context.statusTracker().getJobIdsForTag.return_value = [2, 1]
    store = context.statusStore.return_value
    store.job.side_effect = lambda job: SimpleNamespace(stageIds=lambda: stages[job])
    store.lastStageAttempt.return_value = stage
    assert by_tag(session, "tag") == JobMetrics((1, 2), 3.0, 15, 21)
