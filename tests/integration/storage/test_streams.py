"""Streams into a remote warehouse, with the checkpoint in the table's folder or at a checkpoint_location."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dbt.tests.util import run_dbt

from integration.storage.conftest import Warehouse

SOURCES = """
sources:
  - name: landing
    tables:
      - name: readings
        external: {using: json, location: "{{ var('landing', '') }}"}
        columns: [{name: id, data_type: bigint}]
"""
MODELS = {
    "sources.yml": SOURCES,
    "readings.sql": """
{{ config(materialized='streaming', checkpoint_location=var('checkpoint', none)) }}
select id from {{ stream(source('landing', 'readings')) }}
""",
    "copied.sql": """
{{ config(
    materialized='streaming', primary_key='id', checkpoint_location=var('checkpoint', none), bucket=1
) }}
select id from {{ stream(ref('readings')) }}
""",
}


@pytest.mark.full
class TestStreams:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return MODELS

    @pytest.fixture(scope="class")
    def has_file_system(self, storage: Warehouse) -> bool:
        """Whether Hadoop itself has a file system for the warehouse."""
        return storage.target["warehouse"].startswith("hdfs:")

    def test_each_row_once(self, project: Any, rows: Any, has_file_system: bool, tmp_path: Path) -> None:
        landing = tmp_path / "landing"
        landing.mkdir()
        (landing / "1.json").write_text('{"id": 1}\n')
        places = {"landing": landing.as_uri()}
        if not has_file_system:
            (told, _) = run_dbt(["run", "--vars", json.dumps(places)], expect_pass=False)
            assert "checkpoint_location" in told.message
            assert "\n\tat " not in told.message
            places["checkpoint"] = (tmp_path / "checkpoints").as_uri()
        for number in range(2, 5):
            run_dbt(["run", "--vars", json.dumps(places)])
            ids = [(known,) for known in range(1, number)]
            assert rows("select id from {schema}.readings order by id") == ids
            assert rows("select id from {schema}.copied order by id") == ids
            (landing / f"{number}.json").write_text(f'{{"id": {number}}}\n')
