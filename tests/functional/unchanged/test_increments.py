"""Incremental models, seeds and snapshots with `skip_unchanged`: which runs are skipped."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from dbt.tests.util import run_dbt

from functional.unchanged.conftest import ORDERS, SOURCE, incremental

NEWER = ORDERS + " {% if is_incremental() %} where id > (select coalesce(max(id), 0) from {{ this }}) {% endif %}"
STRATEGIES = {
    "append": "",
    "upsert": ", primary_key='id'",
    "merge": ", primary_key='id'",
    "partial_update": ", primary_key='id', merge_engine='partial-update'",
    "delete+insert": ", unique_key='id'",
    "insert_overwrite": ", partition_by='id'",
}
NAMES = {strategy: strategy.replace("+", "_") for strategy in STRATEGIES}


class TestIncrements:
    @pytest.fixture(scope="class")
    def models(self):
        same = {
            f"{NAMES[strategy]}.sql": incremental(ORDERS, f", incremental_strategy='{strategy}'{config}")
            for strategy, config in STRATEGIES.items()
        }
        return {
            **same,
            "sources.yml": SOURCE,
            "newer.sql": incremental(NEWER),
            "none.sql": incremental(ORDERS + " where id > 100"),
            "vectors.sql": incremental(
                ORDERS, ", primary_key='id', bucket=1, tblproperties={'deletion-vectors.enabled': 'true'}"
            ),
            "counted.sql": incremental(
                "select 1 as n {% if is_incremental() %} union all select max(n) + 1 from {{ this }} {% endif %}"
            ),
        }

    @pytest.fixture(autouse=True)
    def there(self, orders):
        orders()

    def test_strategies(self, runs, rows):
        names = set(NAMES.values())
        assert runs.reused(*names) == set()
        assert runs.reused(*names) == names
        assert runs.reused(*names) == names
        rows("insert into {schema}.orders values (3, 'c')")
        assert runs.reused(*names) == set()
        assert runs.reused(*names) == names
        for name in names:
            added = 5 if name == "append" else 3
            assert rows(f"select count(*) from {{schema}}.{name}") == [(added,)], name

    def test_a_filter_on_its_own_table(self, runs, rows):
        """The second run has another query than the first and finds no rows, but still commits."""
        assert not runs("newer")
        assert not runs("newer")
        assert rows("select commit_kind, delta_record_count from {schema}.`newer$snapshots` order by snapshot_id")[
            1:
        ] == [("APPEND", 0)]
        assert runs("newer")
        rows("insert into {schema}.orders values (3, 'c')")
        assert not runs("newer")
        assert rows("select count(*) from {schema}.newer") == [(3,)]
        # That run changed the table's own rows, which its query reads, so the next run is not skipped.
        assert not runs("newer")
        assert runs("newer")
        assert rows("select count(*) from {schema}.newer") == [(3,)]

    def test_rows_whose_compaction_was_not_committed(self, runs, rows, warehouse, project):
        """Such a table hides its new rows. Its run was killed between its two commits."""

        def is_reused() -> bool:
            (result,) = run_dbt(["run", "--select", "vectors"])
            return result.adapter_response["code"] == "REUSED"

        assert not is_reused()
        assert is_reused()
        assert rows("select commit_kind from {schema}.`vectors$snapshots` order by snapshot_id")[-1] == ("COMPACT",)
        folder = warehouse / f"{project.test_schema}.db" / "vectors" / "snapshot"
        (folder / f"snapshot-{runs.snapshot('vectors')}").unlink()
        (folder / "LATEST").unlink(missing_ok=True)
        assert rows("select count(*) from {schema}.vectors") == [(0,)]
        assert not is_reused()
        assert rows("select count(*) from {schema}.vectors") == [(2,)]
        assert is_reused()

    def test_another_writer_behind_a_run_without_rows(self, runs, rows):
        runs("newer", "--full-refresh")
        assert not runs("newer")
        assert runs("newer")
        rows("delete from {schema}.newer where id = 2")
        assert not runs("newer")
        assert rows("select id from {schema}.newer order by id") == [(1,), (2,)]

    def test_no_rows_at_all(self, runs, rows):
        assert not runs("none")
        assert runs("none")
        assert rows("select count(*) from {schema}.none") == [(0,)]

    def test_a_model_that_goes_on_by_its_own_rows(self, runs, rows):
        """Each run adds rows to its own input, so no run is skipped."""
        for count in (1, 2, 4):
            assert not runs("counted")
            assert len(rows("select n from {schema}.counted")) in (count, count + 1)

    def test_a_run_without_rows_is_no_news_to_others(self, runs, rows):
        """An INSERT OVERWRITE of an input with its own rows counts as a change."""
        runs("append", "--full-refresh")
        assert runs("append")
        rows("insert overwrite {schema}.orders select * from {schema}.orders")
        assert not runs("append")


class TestSeedsAndSnapshots:
    @pytest.fixture(scope="class")
    def project_config_update(self):
        on = {"+skip_unchanged": True}
        return {"models": on, "seeds": on, "snapshots": on}

    @pytest.fixture(scope="class")
    def models(self):
        history = {
            "name": "history",
            "relation": "ref('planted')",
            "config": {
                "unique_key": "id",
                "strategy": "check",
                "check_cols": ["name"],
                "hard_deletes": "invalidate",
            },
        }
        return {
            "history.yml": {"snapshots": [history]},
            "a_view.sql": "{{ config(materialized='view') }} select * from {{ ref('planted') }}",
            "excepted.sql": "{{ config(skip_unchanged=false) }} select * from {{ ref('planted') }}",
        }

    @pytest.fixture(scope="class")
    def seeds(self):
        return {"planted.csv": "id,name\n1,a\n2,b\n"}

    def test_a_seed(self, project, runs, rows):
        path = Path(project.project_root) / "seeds" / "planted.csv"
        assert not runs("planted")
        assert runs("planted")
        os.utime(path, (1, 1))
        assert runs("planted")
        path.write_text("id,name\n1,a\n2,B\n")
        assert not runs("planted")
        assert rows("select name from {schema}.planted order by id") == [("a",), ("B",)]
        assert runs("planted")
        rows("delete from {schema}.planted where id = 1")
        assert not runs("planted")
        rows("alter table {schema}.planted add columns (more string)")
        assert not runs("planted")
        # That run dropped the column after its commit, so only the next commit describes the table without it.
        assert not runs("planted")
        assert runs("planted")

    def test_a_snapshot(self, project, runs, rows):
        path = Path(project.project_root) / "seeds" / "planted.csv"
        path.write_text("id,name\n1,a\n2,b\n")
        run_dbt(["seed"])
        assert not runs("history")
        assert runs("history")
        path.write_text("id,name\n1,A\n")
        run_dbt(["seed"])
        assert not runs("history")
        ended = "select id, name, dbt_valid_to is null from {schema}.history order by id, name"
        assert rows(ended) == [(1, "A", True), (1, "a", False), (2, "b", False)]
        assert runs("history")

    def test_a_whole_project(self, project):
        run_dbt(["build"])
        codes = {r.node.name: r.adapter_response["code"] for r in run_dbt(["build"])}
        assert codes == {
            "planted": "REUSED",
            "history": "REUSED",
            "a_view": "CREATE VIEW",
            "excepted": "CREATE VIEW",
        }


class TestFiles:
    @pytest.fixture(scope="class")
    def landed(self, tmp_path_factory):
        folder = tmp_path_factory.mktemp("landed")
        (folder / "one.txt").write_text("a\n")
        return folder

    @pytest.fixture(scope="class")
    def models(self, landed):
        return {
            "lines.sql": f"{{{{ config(materialized='table', skip_unchanged=true) }}}} select value from text.`{landed}`"
        }

    def test_files(self, runs, rows, landed):
        assert not runs("lines")
        assert runs("lines")
        (landed / "two.txt").write_text("b\n")
        assert not runs("lines")
        assert rows("select value from {schema}.lines order by 1") == [("a",), ("b",)]
        assert runs("lines")
        (landed / "one.txt").write_text("A\n")
        os.utime(landed / "one.txt", (10, 10))
        assert not runs("lines")
        (landed / "two.txt").unlink()
        assert not runs("lines")
        assert rows("select value from {schema}.lines") == [("A",)]
