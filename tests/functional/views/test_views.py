"""In a catalog without views, dbt's views outlive the process, with any text in them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from dbt.tests.util import run_dbt

QUERY = "select id, 'secret token \\' \\\\ \"x\" ünï\n' as word -- credential\nfrom {{ ref('base') }}"


class TestViewsOutliveTheProcess:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            "base.sql": "{{ config(materialized='table') }} select 1 as id",
            "first.sql": QUERY,
            "second.sql": "select id + 1 as id, word from {{ ref('first') }}",
            "later.sql": "{{ config(materialized='table') }} select * from {{ ref('second') }}",
        }

    def test_another_process_reads_them(self, project, rows):
        run_dbt(["run"])
        expected = rows("select * from {schema}.later")
        assert expected == [(2, 'secret token \' \\ "x" ünï\n')]
        rows("drop table {schema}.later")
        subprocess.run(
            [
                sys.executable,
                "-c",
                "import sys; from dbt.cli.main import cli; cli(sys.argv[1:])",
                "run",
                "--select",
                "later",
            ],
            cwd=project.project_root,
            env={**os.environ, "DBT_PROFILES_DIR": str(project.profiles_dir)},
            check=True,
            capture_output=True,
            timeout=300,
        )
        assert rows("select * from {schema}.later") == expected
