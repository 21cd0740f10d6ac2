"""A full disk, a read-only warehouse or a damaged manifest gives one clear message, and no rows are lost."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml

from dbt.adapters.paimon.credentials import PaimonCredentials
from dbt_here import dbt_passes

pytestmark = pytest.mark.full

MEGABYTE = 1024 * 1024
ROWS = "select id, uuid() as text from range({{ var('rows') }})"
MODELS = {
    "rebuilt": "{{ config(materialized='table') }} " + ROWS,
    "upserted": "{{ config(materialized='incremental', primary_key='id', bucket=2) }} " + ROWS,
    "created": "{{ config(materialized='table', enabled=var('rows') > 100) }} " + ROWS,
}

# Spark runs the script as a child of its JVM. A hook sets the limit, so the download of the jars has no limit.
QUOTA = (
    "{% if var('quota', 0) %}select transform (1) using 'prlimit --pid $PPID --fsize={{ var('quota') }}; cat' as (n)"
    "{% endif %}"
)


@pytest.fixture
def folder(tmp_path: Path, spark_config: dict[str, Any]) -> Path:
    (tmp_path / "models").mkdir()
    (tmp_path / "lake").mkdir()
    for name, sql in MODELS.items():
        (tmp_path / "models" / f"{name}.sql").write_text(sql)
    (tmp_path / "dbt_project.yml").write_text(
        yaml.safe_dump({"name": "full", "profile": "full", "on-run-start": QUOTA})
    )
    target = {
        "type": "paimon",
        "paimon_version": "0.9.0",
        "method": "session",
        "schema": "full",
        "warehouse": str(tmp_path / "lake"),
        "threads": 2,
        "spark_config": spark_config,
    }
    (tmp_path / "profiles.yml").write_text(yaml.safe_dump({"full": {"target": "here", "outputs": {"here": target}}}))
    return tmp_path


@pytest.fixture
def read(folder: Path, spark_config: dict[str, Any]):
    from dbt.adapters.paimon.spark.runtime import Runtime
    from dbt.adapters.paimon.spark.session import open_session

    session = open_session(
        Runtime(
            PaimonCredentials(
                paimon_version="0.9.0",
                schema="full",
                warehouse=str(folder / "lake"),
                spark_config=dict(spark_config),
            )
        )
    ).session
    return lambda sql: [tuple(row) for row in session.sql(sql).collect()]


def run(folder: Path, rows: int, quota: int = 0) -> subprocess.CompletedProcess[str]:
    """`dbt run` in a separate process; `quota` is the largest file, in bytes, that its JVM may write."""
    return subprocess.run(
        [
            *(sys.executable, "-c", "from dbt.cli.main import cli; cli()", "run"),
            *("--vars", f"{{rows: {rows}, quota: {quota}}}"),
            *("--project-dir", str(folder), "--profiles-dir", str(folder)),
            *("--target-path", str(folder / "target"), "--log-path", str(folder / "logs")),
        ],
        env=os.environ | {"DBT_SEND_ANONYMOUS_USAGE_STATS": "false"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def build(folder: Path, rows: int) -> None:
    """A run in this process that must succeed."""
    dbt_passes(folder, "run", "--vars", f"{{rows: {rows}, quota: 0}}")


def fill(folder: Path, table: str) -> Path:
    """Write a leftover of a failed statement, as large as the free disk space but at most 8 MB."""
    left = folder / "lake" / "full.db" / table / "bucket-0" / f"data-{uuid4()}-0.parquet"
    left.write_bytes(bytes(min(shutil.disk_usage(folder / "lake").free, 8 * MEGABYTE)))
    return left


def remove_orphan_files(folder: Path, table: str) -> None:
    later = datetime.now(timezone.utc) + timedelta(days=2)
    arguments = {"relation": table, "older_than": f"{later:%Y-%m-%d %H:%M:%S}", "dry_run": False}
    operation = ("run-operation", "remove_orphan_files", "--args", yaml.safe_dump(arguments))
    dbt_passes(folder, *operation, "--vars", "{rows: 100, quota: 0}")


def tables(folder: Path) -> set[str]:
    return {path.name for path in (folder / "lake" / "full.db").iterdir()}


class TestFullDisk:
    """Once with a limit on file sizes; once with a full small file system, if the user may mount one."""

    @pytest.fixture(params=["quota", "tmpfs"])
    def filling(self, request, folder: Path) -> Iterator[int]:
        if request.param == "quota":
            yield MEGABYTE
            return
        lake = folder / "lake"
        mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(lake)]
        if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
            pytest.skip("this user may not mount a file system")
        yield 0
        subprocess.run(["umount", "--lazy", str(lake)], check=True)

    def test_old_rows_stay(self, folder: Path, read, filling: int) -> None:
        build(folder, 100)
        before = {table: sorted(read(f"select * from paimon.full.{table}")) for table in ("rebuilt", "upserted")}
        failed = run(folder, 1_000_000, filling)
        assert failed.returncode == 1, failed.stdout
        for model in ("rebuilt", "upserted", "created"):
            assert f"in model {model} (models/{model}.sql)" in failed.stdout
        assert "No space left on device" in failed.stdout or "File too large" in failed.stdout
        assert "\tat " not in failed.stdout
        for table, rows in before.items():
            assert len(rows) == 100
            assert sorted(read(f"select * from paimon.full.{table}")) == rows, table
        assert "created" not in tables(folder)

        # Paimon deletes the files of a failed task, but its asynchronous writer may leave one.
        left = fill(folder, "rebuilt")
        for table in before:
            remove_orphan_files(folder, table)
        # A task that had not ended yet may have written here after the table was dropped. No catalog lists the folder
        # as a table.
        shutil.rmtree(folder / "lake" / "full.db" / "created__dbt_tmp", ignore_errors=True)
        assert not left.exists()
        build(folder, 200)
        for table in MODELS:
            assert read(f"select count(*) from paimon.full.{table}") == [(200,)]
        assert tables(folder) == set(MODELS)


class TestReadOnly:
    def test_old_rows_stay(self, folder: Path, read) -> None:
        lake = folder / "lake"
        mount = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(lake)], capture_output=True, check=False
        )
        mounted = mount.returncode == 0
        try:
            build(folder, 100)
            before = sorted(read("select * from paimon.full.rebuilt"))
            if mounted:
                subprocess.run(["mount", "-o", "remount,ro", str(lake)], check=True)
            else:
                subprocess.run(["chmod", "-R", "a-w", str(lake)], check=True)
            failed = run(folder, 200)
            assert failed.returncode != 0
            assert f"The warehouse {lake} cannot be written" in failed.stdout
            assert "\tat " not in failed.stdout
            assert sorted(read("select * from paimon.full.rebuilt")) == before
            if mounted:
                subprocess.run(["mount", "-o", "remount,rw", str(lake)], check=True)
            else:
                subprocess.run(["chmod", "-R", "u+w", str(lake)], check=True)
            build(folder, 200)
            assert read("select count(*) from paimon.full.rebuilt") == [(200,)]
        finally:
            if mounted:
                subprocess.run(["umount", "--lazy", str(lake)], check=True)


class TestDamagedManifest:
    def test_the_table_is_named(self, folder: Path, read) -> None:
        (folder / "models" / "reader.sql").write_text(
            "{{ config(materialized='table') }} select count(*) as n from {{ ref('upserted') }}"
        )
        (folder / "models" / "other.sql").write_text("{{ config(materialized='table') }} select 1 as id")
        build(folder, 100)
        manifests = folder / "lake" / "full.db" / "upserted" / "manifest"
        shutil.copytree(manifests, folder / "kept")
        for path in manifests.iterdir():
            if not path.name.startswith("."):
                path.write_bytes(b"damaged")
        failed = run(folder, 100)
        assert failed.returncode == 1
        # The message of the model that writes the table names the table. Only the reader is skipped; the rest passes.
        assert "Done. PASS=3 WARN=0 ERROR=1 SKIP=1" in failed.stdout
        message = failed.stdout.partition("in model upserted (models/upserted.sql)")[2]
        assert "Failed to read manifest list" in message
        assert "`full`.`upserted`" in message
        assert "\tat " not in failed.stdout
        shutil.rmtree(manifests)
        shutil.copytree(folder / "kept", manifests)
        build(folder, 100)
        assert read("select n from paimon.full.reader") == [(100,)]
