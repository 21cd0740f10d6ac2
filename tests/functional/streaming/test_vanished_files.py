"""A file that goes away between the look at the folder and the batch that reads it: told, and nothing written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dbt.tests.util import run_dbt

SOURCES = """
sources:
  - name: landing
    tables:
      - name: readings
        external: {using: json, location: landing}
        columns: [{name: id, data_type: bigint}]
"""
MODEL = """
{{ config(materialized='streaming', on_bad_message='fail') }}
select id from {{ stream(source('landing', 'readings')) }}
"""


class TestVanishedFiles:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"sources.yml": SOURCES, "readings.sql": MODEL}

    def test_one_that_goes_away(self, project: Any, rows: Any) -> None:
        folder = Path(project.project_root) / "landing"
        folder.mkdir()
        (folder / "a.json").write_text('{"id": 1}\n')
        run_dbt(["run"])
        # Its batch is begun, and fails.
        (folder / "b.json").write_text('{"id": 2}\nno json\n')
        run_dbt(["run"], expect_pass=False)
        (folder / "b.json").rename(folder.parent / "b.json")
        (result,) = run_dbt(["run"], expect_pass=False)
        assert "went away" in result.message and "b.json" in result.message
        assert rows("select id from {schema}.readings") == [(1,)]
        # Back, and mended.
        (folder / "b.json").write_text('{"id": 2}\n')
        run_dbt(["run"])
        assert rows("select id from {schema}.readings order by id") == [(1,), (2,)]
