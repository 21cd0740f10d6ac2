"""In a catalog without views, dbt's views outlive the process, with any text in them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from dbt.tests.util import run_dbt, write_file

QUERY = "select id, 'secret token \\' \\\\ \"x\" ünï\n' as word -- credential\nfrom {{ ref('base') }}"


class TestViewsOutliveTheProcess:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "base.sql": "{{ config(materialized='table') }} select 1 as id",
            "first.sql": QUERY,
            "second.sql": "select id + 1 as id, word from {{ ref('first') }}",
            "later.sql": "{{ config(materialized='table') }} select * from {{ ref('second') }}",
            "shared.sql": "{{ config(schema='shared') }} select * from {{ ref('second') }}",
        }

    def test_another_process_reads_them(self, project, rows):
        run_dbt(["run"])
        expected = rows("select * from {schema}.later")
        assert expected == [(2, 'secret token \' \\ "x" ünï\n')]
        rows("drop table {schema}.later")
        # A view of another project.
        Path(project.project_root, "models", "shared.sql").unlink()
        sources = f"sources: [{{name: theirs, schema: {project.test_schema}_shared, tables: [name: shared]}}]"
        write_file(sources, project.project_root, "models", "sources.yml")
        mine = "{{ config(materialized='table') }} select * from {{ source('theirs', 'shared') }}"
        write_file(mine, project.project_root, "models", "mine.sql")
        subprocess.run(
            [
                sys.executable,
                "-c",
                "import sys; from dbt.cli.main import cli; cli(sys.argv[1:])",
                "run",
                "--select",
                "later",
                "mine",
            ],
            cwd=project.project_root,
            env={**os.environ, "DBT_PROFILES_DIR": str(project.profiles_dir)},
            check=True,
            capture_output=True,
            timeout=300,
        )
        assert rows("select * from {schema}.later") == expected
        assert rows("select * from {schema}.mine") == expected
