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


class TestAfterASwap:
    """A table that becomes a view does not come back from what a killed swap left behind."""

    @pytest.fixture(scope="class")
    def models(self):
        return {
            "m.sql": "{{ config(materialized=var('as', 'table')) }} select {{ var('n', 1) }} as n",
            "reader.sql": "{{ config(materialized='table') }} select n from {{ ref('m') }}",
        }

    def test_the_old_table_is_gone(self, project, rows):
        run_dbt(["run", "--select", "m"])
        rows("create table {schema}.m__dbt_backup (n int)")
        rows("insert into {schema}.m__dbt_backup values (0)")
        run_dbt(["run", "--select", "m", "--vars", "{as: view, n: 2}"])
        run_dbt(["run", "--select", "reader", "--vars", "{as: view, n: 2}"])
        assert rows("select n from {schema}.reader") == [(2,)]
        assert [row[1] for row in rows("show tables in {schema}")].count("m__dbt_backup") == 0
