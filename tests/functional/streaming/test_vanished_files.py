"""If a file disappears between listing and reading, the run fails, names the file and writes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from dbt.tests.util import run_dbt

SOURCES = """
sources:
  - name: landing
    tables:
      - name: cleaned
        external: {using: json, location: to_clean, options: {maxFilesPerTrigger: 1, cleanSource: delete}}
        columns: [{name: id, data_type: bigint}]
      - name: readings
        external: {using: json, location: landing}
        columns: [{name: id, data_type: bigint}]
"""
MODEL = """
{{ config(materialized='streaming', on_bad_message='fail') }}
select id from {{ stream(source('landing', 'readings')) }}
"""
CLEANED = """
{{ config(materialized='streaming') }}
select id from {{ stream(source('landing', 'cleaned'), options={'ignoreMissingFiles': true}) }}
where if(id = {{ var('fails', 0) }}, raise_error('no'), true)
"""


class TestVanishedFiles:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {"sources.yml": SOURCES, "readings.sql": MODEL, "cleaned.sql": CLEANED}

    def test_one_that_goes_away(self, project: Any, rows: Any) -> None:
        folder = Path(project.project_root) / "landing"
        folder.mkdir()
        (folder / "a.json").write_text('{"id": 1}\n')
        run_dbt(["run", "--select", "readings"])
        # The batch with b.json starts, and fails.
        (folder / "b.json").write_text('{"id": 2}\nno json\n')
        run_dbt(["run", "--select", "readings"], expect_pass=False)
        (folder / "b.json").rename(folder.parent / "b.json")
        (result,) = run_dbt(["run", "--select", "readings"], expect_pass=False)
        assert "were removed" in result.message and "b.json" in result.message
        assert rows("select id from {schema}.readings") == [(1,)]
        # The file is back, and its JSON is fixed.
        (folder / "b.json").write_text('{"id": 2}\n')
        run_dbt(["run", "--select", "readings"])
        assert rows("select id from {schema}.readings order by id") == [(1,), (2,)]

    def test_a_refresh_that_fails_cleans_nothing_away(self, project: Any, rows: Any) -> None:
        """A failed full refresh keeps files that the old stream has yet to read."""
        folder = Path(project.project_root) / "to_clean"
        folder.mkdir()
        (folder / "0.json").write_text('{"id": 10}\n')
        run_dbt(["run", "--select", "cleaned"])
        for number in range(1, 5):
            (folder / f"{number}.json").write_text(f'{{"id": {10 + number}}}\n')
        arguments = ["run", "--select", "cleaned", "--full-refresh", "--vars", "fails: 14"]
        run_dbt(arguments, expect_pass=False)
        run_dbt(["run", "--select", "cleaned"])
        assert sorted(rows("select id from {schema}.cleaned")) == [(10 + number,) for number in range(5)]
        # A continued stream deletes the files of earlier batches.
        assert len(list(folder.iterdir())) < 5
