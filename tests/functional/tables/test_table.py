"""The table materialization: what it creates, and what a rebuild keeps."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt, write_file

MODEL = """
{{ config(materialized='table', primary_key='id', bucket=2, tblproperties={'file.format': 'orc'}) }}
select id, name from values (1, 'a'), (2, 'b') as t(id, name)
"""
FAILING = MODEL.replace("select id, name", "select id, cast(raise_error('stop') as string) as name")
VIEW = "select id, upper(name) as name from {{ ref('kept') }}"


class TestRebuild:
    @pytest.fixture(scope="class")
    def models(self):
        return {"kept.sql": MODEL, "seen.sql": VIEW}

    def test_rebuild_keeps_rows_and_snapshots(self, project, rows):
        run_dbt(["run"])
        assert sorted(rows("select * from {schema}.kept")) == [(1, "a"), (2, "b")]
        options = dict(rows("select key, value from {schema}.`kept$options`"))
        assert options["bucket"] == "2" and options["file.format"] == "orc"
        assert sorted(rows("select * from `spark_catalog`.`" + project.test_schema + "`.`seen`")) == [
            (1, "A"),
            (2, "B"),
        ]

        write_file(FAILING, project.project_root, "models", "kept.sql")
        run_dbt(["run", "--select", "kept"], expect_pass=False)
        assert sorted(rows("select * from {schema}.kept")) == [(1, "a"), (2, "b")]
        assert len(rows("select * from {schema}.`kept$snapshots`")) == 1

        write_file(MODEL.replace("'b'", "'c'"), project.project_root, "models", "kept.sql")
        run_dbt(["run"])
        assert sorted(rows("select * from {schema}.kept")) == [(1, "a"), (2, "c")]
        assert len(rows("select * from {schema}.`kept$snapshots`")) == 2
