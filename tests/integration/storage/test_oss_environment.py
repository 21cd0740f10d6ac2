"""OSS with only a warehouse in the profile: dbt fetches the jar, and the keys come from environment variables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from integration.services.oss import Oss
from own_process import OwnProcess, write_project

FILES = {"models/placed.sql": "{{ config(materialized='table') }} select id, id * 2 as twice from range(3)"}


def test_keys_of_the_environment(
    aliyun: Oss, spark_config: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = {
        "type": "paimon",
        "paimon_version": "0.9.0",
        "method": "session",
        "schema": "own",
        "warehouse": f"oss://{aliyun.bucket}/environment",
        # The config leaves out the jars, which the other tests name because they share a JVM.
        "spark_config": {name: value for name, value in spark_config.items() if name != "spark.jars.packages"},
    }
    write_project(tmp_path, target, FILES)
    monkeypatch.setenv("OSS_ENDPOINT", aliyun.endpoint)
    monkeypatch.setenv("OSS_ACCESS_KEY_ID", aliyun.access_key)
    monkeypatch.setenv("OSS_ACCESS_KEY_SECRET", aliyun.secret_key)
    steps = [{"dbt": ["run"]}, {"sql": "select id, twice from paimon.own.placed order by id"}]
    assert OwnProcess(tmp_path, target, steps).answers() == [
        {"placed": "success"},
        [[0, 0], [1, 2], [2, 4]],
    ]
    assert any("/data-" in key for key in aliyun.keys("environment/own.db/placed/"))
