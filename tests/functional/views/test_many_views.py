"""No view is lost if several threads or processes create views at the same time."""

from __future__ import annotations

import time
from threading import Event, Thread

import pytest
from dbt.tests.util import get_connection, run_dbt

from dbt.adapters.paimon.concurrency.locks import TableLocks
from dbt.adapters.paimon.sql.views import REGISTRY_TABLE

KEPT = "select key from {schema}.`_dbt_views$options` where key like 'dbt.view.%'"
VIEWS = 24


class TestManyViews:
    @pytest.fixture(scope="class")
    def models(self):
        return {f"v{i}.sql": f"select {i} as id" for i in range(VIEWS)}

    def test_no_view_is_lost(self, project, rows):
        run_dbt(["run", "--threads", "8"])
        assert {row[0] for row in rows(KEPT)} == {f"dbt.view.v{i}" for i in range(VIEWS)}


class TestOtherProcess:
    """While another process (here, a thread with its own locks) locks the table of views, a run waits."""

    @pytest.fixture(scope="class")
    def models(self):
        return {"first.sql": "select 1 as id", "second.sql": "select 2 as id"}

    def test_it_is_waited_for(self, project, rows, warehouse):
        run_dbt(["run", "--select", "first"])
        held, seen = Event(), []
        # Get the session first: dbt closes the connections of all threads when a run ends.
        with get_connection(project.adapter) as connection:
            spark = connection.handle.session

        def other_process() -> None:
            locks = TableLocks()
            locks.hold(f"`paimon`.`{project.test_schema}`.`{REGISTRY_TABLE}`", warehouse)
            held.set()
            try:
                views = f"show tables in spark_catalog.{project.test_schema}"
                while "second" not in {row[1] for row in spark.sql(views).collect()}:
                    time.sleep(0.1)
                time.sleep(2)
                kept = KEPT.format(schema=f"paimon.{project.test_schema}")
                seen.extend(tuple(row) for row in spark.sql(kept).collect())
            finally:
                locks.release()

        other = Thread(target=other_process, daemon=True)
        other.start()
        assert held.wait(60)
        run_dbt(["run", "--select", "second"])
        other.join(60)
        assert seen == [("dbt.view.first",)]
        assert sorted(rows(KEPT)) == [("dbt.view.first",), ("dbt.view.second",)]
