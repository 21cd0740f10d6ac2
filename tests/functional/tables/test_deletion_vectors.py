"""Deletion vectors: an upsert marks old rows as deleted, and readers need not merge files."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt
from pyarrow import parquet

RUN = "{{ var('run', 1) }}"
ROWS = (
    "select /*+ coalesce(1) */ id, 10 * id + {{ var('run', 1) }} as v from range({{ 4 if var('run', 1) == 1 else 2 }})"
)


def model(config: str) -> str:
    return f"{{{{ config(materialized='incremental', {config}) }}}} {ROWS}"


class TestDeletionVectors:
    @pytest.fixture(scope="class")
    def models(self):
        keyed = "primary_key='id', bucket=1"
        return {
            "marked.sql": model(f"{keyed}, deletion_vectors=true"),
            "merged.sql": model(keyed),
            "appended.sql": model("incremental_strategy='merge', unique_key='id', deletion_vectors=true"),
        }

    @pytest.fixture(scope="class", autouse=True)
    def _runs(self, project):
        run_dbt(["run"])
        run_dbt(["run", "--vars", "run: 2"])

    @pytest.fixture
    def folder(self, project, warehouse):
        return lambda table: warehouse / f"{project.test_schema}.db" / table

    @pytest.mark.parametrize("table", ["marked", "merged", "appended"])
    def test_rows(self, rows, table):
        assert rows(f"select * from {{schema}}.{table} order by id") == [(0, 2), (1, 12), (2, 21), (3, 31)]

    def test_index_files(self, folder):
        """Deletion vectors are in the folder `index`; a table without them has no such folder."""
        assert list((folder("marked") / "index").iterdir())
        assert list((folder("appended") / "index").iterdir())
        assert not (folder("merged") / "index").exists()

    @pytest.mark.parametrize("table", ["marked", "appended"])
    def test_the_old_file_stays_and_its_old_rows_are_marked(self, rows, folder, table):
        """The files hold more rows than the table, because no file was rewritten for the two changed rows."""
        paths = [path for (path,) in rows(f"select file_path from {{schema}}.`{table}$files`")]
        found = [parquet.read_metadata(next(folder(table).rglob(path.rsplit("/", 1)[-1]))) for path in paths]
        assert sorted(meta.num_rows for meta in found) == [2, 4]
