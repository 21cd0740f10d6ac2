"""A run killed by Ctrl-C, or whose Spark JVM dies, leaves no half-written table, and the next run cleans up."""

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

# Hours of work, unless it is cancelled.
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
    """Whether a process group has ended within some seconds, including the JVM, which runs its shutdown hooks first."""
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
    """The tables' snapshots before the run that is killed."""
    write(project, MODELS)
    dbt_passes(project, "run")
    found = {table: snapshots(project, table) for table in ("rebuilt", "upserted")}
    assert all(found.values())
    return found


def heed_ctrl_c() -> None:
    # If a shell started pytest in the background, pytest ignores SIGINT, and so would dbt.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def start_slow(project: Path) -> subprocess.Popen[str]:
    """A run that is writing all of its models."""
    write(project, SLOW)
    log = project / "logs" / "dbt.log"
    log.unlink()
    # dbt gets its own process group, as from a shell, so that Ctrl-C reaches dbt and its JVM.
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
    """The next run passes, and no half-built table stays."""
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
    # Each model has this message, instead of py4j's.
    told = {result["message"] for result in results(project)}
    assert len(results(project)) == len(SLOW)
    assert all("Spark's JVM has exited: it was killed (SIGKILL)" in message for message in told), told
    check_heals(project)
