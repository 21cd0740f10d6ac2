"""The owner of the files that dbt writes to HDFS: the user of its process, or HADOOP_USER_NAME."""

from __future__ import annotations

import os
import pwd
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from dbt.tests.util import run_dbt

from integration.services.hdfs import Hdfs
from integration.storage.conftest import Warehouse, on_hdfs
from own_process import OwnProcess, write_project

MODEL = """{{ config(materialized='incremental', primary_key='id', bucket=1) }}
select id, {{ var('step') }} as step from range(2)"""


class TestHdfsUser:
    @pytest.fixture(scope="class")
    def storage(self, hadoop: Hdfs) -> Warehouse:
        return on_hdfs(hadoop, "users")

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"owned.sql": MODEL}

    def test_files_are_the_users(
        self,
        project: Any,
        dbt_profile_target: dict[str, Any],
        rows: Callable[[str], list[tuple[Any, ...]]],
        hadoop: Hdfs,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        run_dbt(["run", "--vars", "step: 1"])
        folder = f"/users/{project.test_schema}.db/owned"
        before = hadoop.owners(folder)
        me = os.environ.get("HADOOP_USER_NAME") or pwd.getpwuid(os.getuid()).pw_name
        assert set(before.values()) == {me}

        # In a separate process, because Hadoop looks up the user only once per JVM.
        target = dbt_profile_target | {"schema": project.test_schema}
        write_project(tmp_path, target, {"models/owned.sql": MODEL})
        monkeypatch.setenv("HADOOP_USER_NAME", "loader")
        steps = [{"dbt": ["run", "--vars", "step: 2"]}]
        assert OwnProcess(tmp_path, target, steps).answers() == [{"owned": "success"}]
        assert sorted(rows("select id, step from {schema}.owned")) == [(0, 2), (1, 2)]
        written = {name: owner for name, owner in hadoop.owners(folder).items() if name not in before}
        assert any(name.endswith("/snapshot/snapshot-2") for name in written), written
        assert any("/data-" in name for name in written), written
        assert set(written.values()) == {"loader"}
