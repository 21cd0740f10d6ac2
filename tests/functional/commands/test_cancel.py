"""Ctrl-C: the Spark jobs of the run end, no table is left half written, and dbt says so by its exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

# Seconds of work for each of two threads, unless it is cancelled.
ENDLESS = "(select sum(hash(a.id, b.id)) from range(1000000) as a cross join range(1000000) as b)"
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


def gone(group: int, seconds: float = 30) -> bool:
    """Whether nobody of a process group is left, the JVM included, which runs its shutdown hooks first."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.2)
    return False


def test_ctrl_c(project):
    write(project, MODELS)
    subprocess.run([*DBT, "run"], cwd=project, check=True, timeout=300)
    before = {table: snapshots(project, table) for table in ("rebuilt", "upserted")}
    assert all(before.values())

    write(project, SLOW)
    log = project / "logs" / "dbt.log"
    log.unlink()
    # A group of its own, as a shell gives to a command: Ctrl-C goes to dbt and to its JVM.
    process = subprocess.Popen([*DBT, "run"], cwd=project, stdout=subprocess.PIPE, text=True, process_group=0)
    deadline = time.monotonic() + 240
    while running(log) < len(SLOW):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.2)
    time.sleep(1)
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate(timeout=180)

    assert process.returncode != 0, output
    assert {table: snapshots(project, table) for table in before} == before
    assert not (project / "lake" / "cancelled.db" / "created").exists()
    assert gone(process.pid)
    results = json.loads((project / "target" / "run_results.json").read_text())["results"]
    assert {result["status"] for result in results} <= {"error", "skipped"}

    # The next run heals: nothing half built is in its way, and nothing of it stays.
    write(project, {name: sql and sql.replace("'old'", "'new'") for name, sql in MODELS.items()})
    write(project, {"created": "{{ config(materialized='table') }} select 1 as id"})
    subprocess.run([*DBT, "run"], cwd=project, check=True, timeout=300)
    tables = {path.name for path in (project / "lake" / "cancelled.db").iterdir()}
    assert tables == {"rebuilt", "upserted", "created"}
