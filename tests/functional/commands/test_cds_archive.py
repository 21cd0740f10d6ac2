"""A run leaves an archive of Java classes that later runs use. A missing or damaged archive stops no run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
import yaml

from dbt.adapters.paimon.spark.launch import cds_archive

pytestmark = pytest.mark.full

DBT = [sys.executable, "-c", "from dbt.cli.main import cli; cli()", "run"]
MODEL = "{{ config(materialized='incremental', primary_key='id') }} select cast('{{ var('run') }}' as int) as id"


@pytest.fixture(scope="class")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("archive")


@pytest.fixture(scope="class")
def run(folder: Path, dbt_profile_target, spark_config):
    """`run(number, Java options)` builds the model in its own process; each run adds one row.

    Returns whether the JVM kept a cached archive mapped for longer than a check of the archive takes.
    """
    (folder / "dbt_project.yml").write_text(yaml.safe_dump({"name": "archive", "profile": "archive"}))
    (folder / "models").mkdir()
    (folder / "models" / "numbers.sql").write_text(MODEL)

    def go(number: int, java: str = "") -> bool:
        conf = {**spark_config, "spark.driver.extraJavaOptions": java}
        target = dbt_profile_target | {
            "schema": "s",
            "warehouse": str(folder / "lake"),
            "spark_config": conf,
        }
        (folder / "profiles.yml").write_text(
            yaml.safe_dump({"archive": {"target": "here", "outputs": {"here": target}}})
        )
        environment = {name: value for name, value in os.environ.items() if name != "JDK_JAVA_OPTIONS"}
        environment |= {"XDG_CACHE_HOME": str(folder / "cache"), "DBT_PAIMON_CLASS_ARCHIVE": "1"}
        command = [*DBT, "--vars", json.dumps({"run": number})]
        # The JVM of the previous run may still be shutting down.
        deadline = time.monotonic() + 300
        while mapped(caches(folder)):
            assert time.monotonic() < deadline
            time.sleep(0.2)
        looks = 0
        with (folder / "output").open("w") as output:
            process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT)
            while process.poll() is None:
                looks += mapped(caches(folder))
                time.sleep(0.5)
        assert process.returncode == 0, (folder / "output").read_text()
        return looks > 3

    return go


def mapped(place: Path) -> bool:
    """Whether any process maps an archive of this folder into memory."""
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with suppress(OSError):
            if f"{place}/classes-" in maps.read_text():
                return True
    return False


def caches(folder: Path) -> Path:
    return folder / "cache" / "dbt-paimon"


def archive(folder: Path) -> Path:
    """Wait for a complete archive, which the JVM writes after dbt has ended; returns its path."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        for path in caches(folder).glob("classes-*.jsa"):
            if cds_archive._is_usable(path):
                return path
        time.sleep(0.5)
    raise AssertionError(f"no complete archive in {list(caches(folder).iterdir())}")


def snapshots(folder: Path) -> int:
    found = (folder / "lake" / "s.db" / "numbers" / "snapshot").glob("snapshot-*")
    return sum(json.loads(path.read_text())["commitKind"] == "APPEND" for path in found)


class TestClassArchive:
    def test_options_with_which_java_makes_no_archive(self, folder, run):
        run(1, "-XX:-UseCompressedClassPointers")
        assert snapshots(folder) == 1
        assert list(caches(folder).glob("*.jsa")) == []

    def test_made_by_a_run(self, folder, run):
        run(2)
        assert archive(folder).stat().st_size > 2**20

    def test_used_by_the_next(self, folder, run):
        before = archive(folder).stat()
        assert run(3)
        assert archive(folder).stat().st_mtime_ns == before.st_mtime_ns
        assert snapshots(folder) == 3

    def test_a_damaged_one(self, folder, run):
        path = archive(folder)
        found = path.stat()
        path.chmod(0o600)
        with path.open("r+b") as file:
            for place in range(2**20, found.st_size, 2**22):
                file.seek(place)
                file.write(os.urandom(2**12))
        # As on a faulty disk: only the bytes differ, not the timestamps.
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
        assert not run(4)
        assert snapshots(folder) == 4
