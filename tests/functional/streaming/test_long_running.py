"""`dbt-paimon stream` runs until a signal, writes new rows as they arrive, and is the only stream into its table."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from dbt.adapters.paimon.spark.runtime import Runtime
from dbt.adapters.paimon.spark.session import open_session
from dbt_here import dbt_here, dbt_passes
from own_process import credentials_of

STREAM = [sys.executable, "-m", "dbt_paimon.cli", "stream"]
# Each table takes over the column types of its source.
EVENTS = """{{ config(materialized='incremental', on_schema_change='sync_all_columns') }}
select id, cast(id * 2 as {{ var('kind', 'int') }}) as n from range({{ var('first') }}, {{ var('last') }})
"""
MANY = 3_000_000_000
COPIED = """{{ config(materialized='streaming', processing_time='1 second', on_schema_change='sync_all_columns') }}
select id, n from {{ stream(ref('events')) }}
"""
# One batch per commit; with `slow`, each batch takes some seconds.
SLOW = """{{ config(materialized='streaming', primary_key='id', bucket=1) }}
select id, n from {{ stream(ref('events'), options={'scan.snapshot-id': 1, 'maxSnapshotsPerTrigger': 1}) }}
{% if var('slow', false) %}
where (select sum(hash(a.id, b.id)) from range(20000) as a cross join range(20000) as b) is not null
{% endif %}
"""
BROKEN = "{{ config(materialized='streaming') }} select 1 as id"
FOLLOWED = """{{ config(materialized='streaming', processing_time='1 second', on_schema_change='sync_all_columns') }}
select id, n * 3 as n from {{ stream(ref('copied')) }}
"""


class Project:
    def __init__(self, root: Path, spark_config: dict[str, Any]) -> None:
        self.root = root
        (root / "models").mkdir()
        (root / "models" / "events.sql").write_text(EVENTS)
        (root / "models" / "copied.sql").write_text(COPIED)
        (root / "models" / "followed.sql").write_text(FOLLOWED)
        (root / "models" / "broken.sql").write_text(BROKEN)
        (root / "models" / "slow.sql").write_text(SLOW)
        (root / "dbt_project.yml").write_text(
            yaml.safe_dump({"name": "streams", "profile": "streams", "flags": {"send_anonymous_usage_stats": False}})
        )
        target = {
            "type": "paimon",
            "paimon_version": "0.9.0",
            "schema": "s",
            "warehouse": str(root / "warehouse"),
            "spark_config": spark_config | {"spark.sql.warehouse.dir": str(root / "of-spark")},
        }
        (root / "profiles.yml").write_text(yaml.safe_dump({"streams": {"target": "a", "outputs": {"a": target}}}))

        self._credentials = credentials_of(target)

    def stream(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start `dbt-paimon stream` in a separate process."""
        output = (self.root / "output.txt").open("ab")
        return subprocess.Popen([*STREAM, *arguments], cwd=self.root, stdout=output, stderr=output)

    def second(self, model: str) -> str:
        """Run a model while another process streams into its table; returns the node's message."""
        (result,) = dbt_here(self.root, "run", "--select", model).result
        return str(result.message)

    def add(self, first: int, last: int, kind: str = "bigint") -> None:
        dbt_passes(
            self.root,
            "run",
            "--select",
            "events",
            "--vars",
            f"{{first: {first}, last: {last}, kind: {kind}}}",
        )

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a query, in a session outside dbt."""
        return [tuple(row) for row in open_session(Runtime(self._credentials)).session.sql(sql).collect()]

    def said(self) -> str:
        return (self.root / "output.txt").read_text()

    def data_files(self, table: str) -> set[Path]:
        return set((self.root / "warehouse" / "s.db" / table / "bucket-0").glob("data-*"))

    def tables(self) -> set[str]:
        return {folder.name for folder in (self.root / "warehouse" / "s.db").iterdir()}

    def until(self, holds: Callable[[], Any], process: subprocess.Popen[bytes]) -> None:
        end = time.monotonic() + 400
        while not holds():
            assert process.poll() is None and time.monotonic() < end, self.said()
            time.sleep(0.2)


@pytest.fixture(scope="module")
def project(tmp_path_factory, spark_config) -> Project:
    return Project(tmp_path_factory.mktemp("streams"), spark_config)


def test_it_goes_on_until_a_signal(project: Project):
    project.add(0, 10, "int")
    # `copied` and `followed` are streams; `followed` reads `copied`.
    stream = project.stream("--select", "events", "copied", "followed")
    try:
        project.until(lambda: project.data_files("followed"), stream)
        before = project.data_files("followed")
        # Another process writes the source meanwhile.
        project.add(10, 20, "int")
        project.until(lambda: project.data_files("followed") - before, stream)
        # Wait until the endless query has the table: it would be refused if the second stream had it.
        project.until(lambda: project.said().count("START sql streaming model s.copied") > 1, stream)
        # A second stream is refused. Retry, as the table is not locked between the first run and the endless query.
        project.until(lambda: "another process is already streaming into" in project.second("copied"), stream)
        # A column gets a wider type, and values that do not fit the old type.
        before = project.data_files("followed")
        project.add(MANY, MANY + 5)
        project.until(lambda: project.data_files("followed") - before, stream)
        stream.send_signal(signal.SIGINT)
        assert stream.wait(timeout=300) == 0, project.said()
    finally:
        if stream.poll() is None:
            os.kill(stream.pid, signal.SIGKILL)
    # A run writes the rows added after the stream ended, once.
    project.add(20, 30)
    dbt_passes(project.root, "run", "--select", "copied", "followed")
    for table, times in (("copied", 2), ("followed", 6)):
        assert project.query(f"select id, n from paimon.s.{table} order by id") == [
            (number, number * times) for number in (*range(30), *range(MANY, MANY + 5))
        ]


@pytest.mark.full
def test_a_full_refresh_that_is_ended(project: Project):
    """Readers keep the old table: an incomplete new one does not replace it."""
    dbt_passes(project.root, "run", "--select", "slow")
    before, there = project.query("select count(*) from paimon.s.slow"), project.tables()
    stream = project.stream("--select", "slow", "--full-refresh", "--vars", "slow: true")
    try:
        project.until(lambda: project.tables() - there, stream)
        stream.send_signal(signal.SIGTERM)
        assert stream.wait(timeout=300) == 1, project.said()
    finally:
        if stream.poll() is None:
            os.kill(stream.pid, signal.SIGKILL)
    assert project.tables() == there
    assert project.query("select count(*) from paimon.s.slow") == before
    dbt_passes(project.root, "run", "--select", "slow")


@pytest.mark.full
def test_its_jvm_is_killed(project: Project):
    project.add(100, 110)
    before = project.data_files("copied")
    stream = project.stream("--select", "copied")
    try:
        project.until(lambda: project.data_files("copied") - before, stream)
        children = psutil.Process(stream.pid).children(recursive=True)
        next(each for each in children if each.name() == "java").kill()
        # The command ends with one error, so that a supervisor can restart it.
        assert stream.wait(timeout=300) == 1, project.said()
    finally:
        if stream.poll() is None:
            os.kill(stream.pid, signal.SIGKILL)
    (result,) = json.loads((project.root / "target" / "run_results.json").read_text())["results"]
    assert "Spark's JVM has exited: it was killed (SIGKILL)" in result["message"]
    dbt_passes(project.root, "run", "--select", "copied")
    copied = project.query("select id, n from paimon.s.copied where id between 100 and 109 order by id")
    assert copied == [(number, number * 2) for number in range(100, 110)]


@pytest.mark.full
def test_one_of_several_streams_fails(project: Project):
    """The command ends, so that a service manager restarts it."""
    project.add(200, 210)
    stream = project.stream("--select", "copied", "broken")
    try:
        assert stream.wait(timeout=300) == 1, project.said()
    finally:
        if stream.poll() is None:
            os.kill(stream.pid, signal.SIGKILL)
    results = json.loads((project.root / "target" / "run_results.json").read_text())["results"]
    assert {each["unique_id"].split(".")[-1]: each["status"] for each in results} == {
        "copied": "success",
        "broken": "error",
    }


def test_it_needs_a_streaming_model(project: Project):
    process = project.stream("--select", "events")
    assert process.wait() == 1
    assert "No streaming model is selected" in project.said()
