"""Runs that are broken off, by Ctrl-C or as Spark's JVM ends: no table is left half written, and the next run heals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from dbt_here import dbt_passes

# Seconds of work for each of two threads, unless it is cancelled.
ENDLESS = "(select sum(hash(a.id, b.id)) from range(10000000000) as a cross join range(1000) as b)"
MODELS = {
    "rebuilt": "{{ config(materialized='table', primary_key='id') }} select 1 as id, 'old' as note",
    "upserted": "{{ config(materialized='incremental', primary_key='id') }} select 1 as id, 'old' as note",
    "created": None,
}
SLOW = {
    "rebuilt": "{{ config(materialized='table', primary_key='id') }} select 1 as id, 'new' as note where %s > 0",
    "upserted": "{{ config(materialized='incremental', primary_key='id') }} select 1 as id, 'new' as note where %s > 0",
    "created": "{{ config(materialized='table') }} select 1 as id where %s > 0",
}
DBT = [sys.executable, "-c", "from dbt.cli.main import cli; cli()"]


@pytest.fixture
def project(tmp_path: Path, dbt_profile_target) -> Path:
    target = dbt_profile_target | {"schema": "cancelled", "warehouse": str(tmp_path / "lake"), "threads": 3}
    (tmp_path / "dbt_project.yml").write_text(yaml.safe_dump({"name": "cancelled", "profile": "cancelled"}))
    (tmp_path / "profiles.yml").write_text(
        yaml.safe_dump({"cancelled": {"target": "here", "outputs": {"here": target}}})
    )
    (tmp_path / "models").mkdir()
    return tmp_path


def write(project: Path, models: dict[str, str | None]) -> None:
    for name, sql in models.items():
        if sql is not None:
            (project / "models" / f"{name}.sql").write_text(sql.replace("%s", ENDLESS))


def snapshots(project: Path, table: str) -> dict[str, str]:
    files = (project / "lake" / "cancelled.db" / table / "snapshot").glob("snapshot-*")
    return {file.name: file.read_text() for file in files}


def running(log: Path) -> int:
    return log.read_text().count("insert ") if log.exists() else 0


def gone(group: int, seconds: float = 300) -> bool:
    """Whether nobody of a process group is left, the JVM included, which runs its shutdown hooks first."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.2)
    return False


@pytest.fixture
def before(project: Path) -> dict[str, dict[str, str]]:
    """Snapshots of the tables as they are before the run that is broken off."""
    write(project, MODELS)
    dbt_passes(project, "run")
    found = {table: snapshots(project, table) for table in ("rebuilt", "upserted")}
    assert all(found.values())
    return found


def heed_ctrl_c() -> None:
    # What the shell starts in the background has SIGINT ignored, and all that it starts.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start_slow(project: Path) -> subprocess.Popen[str]:
    """A run whose models are all being written."""
    write(project, SLOW)
    log = project / "logs" / "dbt.log"
    log.unlink()
    # A group of its own, as a shell gives to a command: Ctrl-C goes to dbt and to its JVM.
    process = subprocess.Popen(
        [*DBT, "run"],
        cwd=project,
        stdout=subprocess.PIPE,
        text=True,
        process_group=0,
        preexec_fn=heed_ctrl_c,  # noqa: PLW1509 - it sets a signal and nothing else
    )
    deadline = time.monotonic() + 240
    while running(log) < len(SLOW):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.2)
    time.sleep(1)
    return process


def check_heals(project: Path) -> None:
    """Nothing half built is in the next run's way, and nothing of it stays."""
    write(project, {name: sql and sql.replace("'old'", "'new'") for name, sql in MODELS.items()})
    write(project, {"created": "{{ config(materialized='table') }} select 1 as id"})
    dbt_passes(project, "run")
    tables = {path.name for path in (project / "lake" / "cancelled.db").iterdir()}
    assert tables == {"rebuilt", "upserted", "created"}


def results(project: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((project / "target" / "run_results.json").read_text())["results"]
    return found


def test_ctrl_c(project, before):
    process = start_slow(project)
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=180)

    assert process.returncode != 0, output
    assert {table: snapshots(project, table) for table in before} == before
    assert not (project / "lake" / "cancelled.db" / "created").exists()
    assert gone(process.pid)
    assert {result["status"] for result in results(project)} <= {"error", "skipped"}
    check_heals(project)


def test_jvm_is_killed(project, before):
    process = start_slow(project)
    (jvm,) = (each for each in psutil.Process(process.pid).children(recursive=True) if each.name() == "java")
    jvm.kill()
    output, _ = process.communicate(timeout=180)

    assert process.returncode == 1, output
    assert {table: snapshots(project, table) for table in before} == before
    assert gone(process.pid)
    # One message for each model, and none of py4j's words.
    told = {result["message"] for result in results(project)}
    assert len(results(project)) == len(SLOW)
    assert all("Spark's JVM has exited: it was killed (SIGKILL)" in message for message in told), told
    check_heals(project)
