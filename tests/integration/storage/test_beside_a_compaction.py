"""On HDFS, where dbt needs no locks of its own, a run does not wait for another process's compaction."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dbt.tests.util import run_dbt

from integration.services.hdfs import Hdfs
from integration.storage.conftest import Warehouse, on_hdfs
from own_process import write_project

KEYS = 400_000
MODEL = f"""{{{{ config(
    materialized='incremental', primary_key='id', bucket=1, tblproperties={{'write-only': 'true'}},
    maintenance={{'compact': {{'small_files': 2, 'after_run': false}}}}
) }}}}
select id, {{{{ var('run') }}}} as run from range({{{{ var('rows', {KEYS}) }}}})"""


class TestBesideACompaction:
    @pytest.fixture(scope="class")
    def storage(self, hadoop: Hdfs) -> Warehouse:
        return on_hdfs(hadoop, "beside")

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"upserted.sql": MODEL}

    def test_a_run_does_not_wait(
        self,
        project: Any,
        storage: Warehouse,
        dbt_profile_target: dict[str, Any],
        rows: Callable[[str], list[tuple[Any, ...]]],
        tmp_path: Path,
    ) -> None:
        def files() -> int:
            return sum("/data-" in name for name in storage.files(f"{project.test_schema}.db/upserted"))

        def commits() -> str:
            found = rows("select commit_kind from {schema}.`upserted$snapshots` order by snapshot_id")
            return "".join(kind[0] for (kind,) in found)

        for run in (1, 2):
            run_dbt(["run", "--vars", f"run: {run}"])
        before = files()
        write_project(tmp_path, dbt_profile_target | {"schema": project.test_schema}, {"models/upserted.sql": MODEL})
        compaction = subprocess.Popen(
            [
                *(sys.executable, "-c", "from dbt.cli.main import cli; cli()", "run-operation", "maintain"),
                *("--project-dir", str(tmp_path), "--profiles-dir", str(tmp_path), "--vars", "run: 0"),
            ],
            env=os.environ | {"DBT_LOG_PATH": str(tmp_path / "logs")},
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            # The compaction is suspended as soon as it writes, and continues only after the run.
            while files() == before:
                assert compaction.poll() is None
                time.sleep(0.05)
            os.killpg(compaction.pid, signal.SIGSTOP)
            run_dbt(["run", "--vars", "{run: 3, rows: 10}"])
            assert commits() == "AAA"
            assert rows("select run, count(*) from {schema}.upserted group by 1 order by 1") == [
                (2, KEYS - 10),
                (3, 10),
            ]
            os.killpg(compaction.pid, signal.SIGCONT)
            assert compaction.wait(timeout=300) == 0
        finally:
            if compaction.poll() is None:
                os.killpg(compaction.pid, signal.SIGKILL)
        assert commits() == "AAAC"
        assert rows("select run, count(*) from {schema}.upserted group by 1 order by 1") == [
            (2, KEYS - 10),
            (3, 10),
        ]
