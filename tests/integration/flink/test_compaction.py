"""Flink compacts tables that only dbt writes: dbt's commits add files, Flink's job merges them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from dbt.tests.util import run_dbt

from integration.services.flink import TIMEOUT, Session

pytestmark = pytest.mark.full
Rows = Callable[[str], list[tuple[Any, ...]]]

# Every run updates every key.
MODEL = """
{{ config(materialized='incremental', primary_key='id', bucket=2, tblproperties={'write-only': 'true'}) }}
select id, {{ var('step', 1) }} * 100 + id as v from range(10)
"""
# The same with a changelog: all updates of a key between two compactions become one change.
WITH_CHANGELOG = MODEL.replace("bucket=2", "bucket=2, changelog_producer='lookup'")
READER = """
{{ config(materialized='incremental', primary_key='id', bucket=1, rowkind_field='_row_kind') }}
select id, v, _row_kind from {{ paimon_changes(ref('beside')) }}
"""
RUNS = 6


def kinds(rows: Rows, table: str) -> dict[str, int]:
    """The number of commits of each kind in a table."""
    query = f"select commit_kind, count(*) from {{schema}}.`{table}$snapshots` group by commit_kind"
    return {kind: count for kind, count in rows(query)}  # noqa: C416 - typed


def compact(project: Any, table: str) -> str:
    return f"call sys.compact(`table` => '{project.test_schema}.{table}')"


def values(step: int) -> list[tuple[int, int]]:
    return [(number, step * 100 + number) for number in range(10)]


def write(step: int, *models: str) -> None:
    run_dbt(["run", "--select", *models, "--vars", f"step: {step}"])


class TestDedicatedCompaction:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"once.sql": MODEL, "beside.sql": MODEL, "logged.sql": WITH_CHANGELOG, "reader.sql": READER}

    def test_a_call_now_and_then(self, project: Any, flink: Session, rows: Rows) -> None:
        for step in range(1, RUNS + 1):
            write(step, "once")
        files = "select count(*), min(level) from {schema}.`once$files`"
        # One file per run in each of the two buckets: a compacting writer would have merged at five.
        assert rows(files) == [(2 * RUNS, 0)]
        assert kinds(rows, "once") == {"APPEND": RUNS}
        flink.run(compact(project, "once"))
        assert rows(files) == [(2, 5)]
        assert kinds(rows, "once") == {"APPEND": RUNS, "COMPACT": 1}
        assert sorted(rows("select * from {schema}.once")) == values(RUNS)

    def test_changelog_of_a_compaction(self, project: Any, flink: Session) -> None:
        write(1, "logged")
        flink.run(compact(project, "logged"))
        with flink.reading("select id, v from {schema}.logged where id = 3") as reader:
            assert reader.take(1) == [("+I", 3, 103)]
            write(2, "logged")
            write(3, "logged")
            flink.run(compact(project, "logged"))
            assert reader.take(3)[1:] == [("-U", 3, 103), ("+U", 3, 303)]

    def test_a_job_beside_runs(self, project: Any, compactor: Session, rows: Rows) -> None:
        write(1, "beside", "reader")
        compactor.go_on(compact(project, "beside"))
        for step in range(2, RUNS + 1):
            write(step, "beside")
            write(step, "reader")
            assert sorted(rows("select id, v from {schema}.reader")) == values(step)
        end = time.monotonic() + TIMEOUT
        while "COMPACT" not in kinds(rows, "beside"):
            assert time.monotonic() < end
            time.sleep(0.5)
        (merged,) = rows("select count(*) from {schema}.`beside$files` where level > 0")
        assert merged > (0,)
        # Each run of dbt made one commit, and all compactions are Flink's.
        assert kinds(rows, "beside")["APPEND"] == RUNS
        assert sorted(rows("select * from {schema}.beside")) == values(RUNS)
        compacted = "select distinct commit_user from {schema}.`beside$snapshots` where commit_kind = '%s'"
        assert not set(rows(compacted % "COMPACT")) & set(rows(compacted % "APPEND"))
