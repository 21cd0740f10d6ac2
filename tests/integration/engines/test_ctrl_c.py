"""Ctrl-C ends a run on a server, and its Spark jobs, within seconds; the tables stay as they are."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from dbt.adapters.paimon.connections import open_handle
from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt.adapters.paimon.spark.runtime import Runtime
from dbt_here import dbt_passes
from integration import own_group

# Hours of work.
ENDLESS = """{{ config(materialized='table') }}
select sum(hash(a.id, b.id)) as id from range(10000000000) as a cross join range(1000) as b"""
QUICK = "{{ config(materialized='table') }} select 2L as id"
NODE = "model.broken_off.kept"


# Connect is tested here only in the full suite, because `test_warm_server` tests it, too.
@pytest.fixture(params=["thrift", pytest.param("connect", marks=pytest.mark.full)])
def method(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def target(method: str, request: pytest.FixtureRequest, lake: Path) -> dict[str, Any]:
    port = request.getfixturevalue(f"{method}_port")
    return {"method": method, "host": "127.0.0.1", "port": port, "schema": f"broken_off_{method}"}


@pytest.fixture
def rows(target: dict[str, Any]) -> Callable[[str], list[tuple[Any, ...]]]:
    handle = open_handle(Runtime(PaimonCredentials(**target, warehouse=None)))

    def run(sql: str) -> list[tuple[Any, ...]]:
        cursor = handle.cursor()
        cursor.execute(sql)
        return cursor.fetchall()

    return run


@pytest.fixture
def folder(tmp_path: Path, target: dict[str, Any]) -> Path:
    (tmp_path / "dbt_project.yml").write_text(yaml.safe_dump({"name": "broken_off", "profile": "it"}))
    outputs = {"it": {"type": "paimon", "threads": 1, "paimon_version": "0.9.0", **target}}
    (tmp_path / "profiles.yml").write_text(yaml.safe_dump({"it": {"target": "it", "outputs": outputs}}))
    (tmp_path / "models").mkdir()
    return tmp_path


def jobs(pages: int) -> list[dict[str, Any]]:
    """A server's jobs, from the REST API of its web UI."""
    address = f"http://127.0.0.1:{pages}/api/v1/applications"
    with urllib.request.urlopen(address) as answer:
        ((application, *_), *_) = (list(each.values()) for each in json.load(answer))
    with urllib.request.urlopen(f"{address}/{application}/jobs") as answer:
        found: list[dict[str, Any]] = json.load(answer)
    return found


def of_node(job: dict[str, Any]) -> bool:
    return job.get("description", "").startswith(f"/* dbt: {NODE} (table) */") or any(
        tag.endswith(f"_Tag_dbt-{NODE}") for tag in job["jobTags"]
    )


def test_ctrl_c(folder, target, rows, method, request):
    pages = request.getfixturevalue(f"{method}_pages")
    rows(f"create schema if not exists {target['schema']}")
    rows(f"create table {target['schema']}.kept as select 1L as id")
    (folder / "models" / "kept.sql").write_text(ENDLESS)
    process = own_group.start(folder, "run")
    deadline = time.monotonic() + 240
    while not any(of_node(job) and job["numActiveTasks"] for job in jobs(pages)):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.5)
    assert own_group.press_ctrl_c(process) < 20
    assert [job for job in jobs(pages) if job["status"] == "RUNNING"] == []
    assert rows(f"select id from {target['schema']}.kept") == [(1,)]
    assert rows(f"select count(*) from {target['schema']}.`kept$snapshots`") == [(1,)]
    (folder / "models" / "kept.sql").write_text(QUICK)
    dbt_passes(folder, "run")
    assert rows(f"select id from {target['schema']}.kept") == [(2,)]
