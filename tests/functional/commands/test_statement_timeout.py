"""A statement that hangs outside of Spark jobs ends with one error, in time, and writes nothing."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from dbt.tests.util import run_dbt

from dbt.adapters.paimon.machine.waiting import WaitedTooLongError
from dbt.adapters.paimon.spark import statement_timeout

REBUILT = "{{ config(materialized='table', primary_key='id', bucket=1) }} select {{ var('id', 1) }} as id"
# On one core, this job takes longer than the timeout.
LONG = "select sum(hash(a.id, b.id)) as h from range(0, 20000, 1, 1) as a cross join range(0, 40000, 1, 1) as b"


class TestStalls:
    @pytest.fixture(scope="class")
    def models(self):
        return {"rebuilt.sql": REBUILT, "long.sql": "{{ config(materialized='table') }} " + LONG}

    @pytest.fixture
    def silent(self, project, warehouse: Path):
        """Make reads of a table's manifests hang, as on a storage that does not answer."""
        run_dbt(["run", "--select", "rebuilt"])
        (folder,) = warehouse.glob(f"{project.test_schema}.db/rebuilt/manifest")
        files = [path for path in folder.glob("manifest-*") if not path.name.startswith("manifest-list")]
        for path in files:
            path.rename(folder / f"kept-{path.name}")
            os.mkfifo(path)
        yield
        for path in files:
            # Opening the pipe for writing unblocks its readers.
            with path.open("r+b", buffering=0):
                pass
            path.unlink()
            (folder / f"kept-{path.name}").rename(path)

    @pytest.fixture
    def soon(self, monkeypatch):
        """A timeout of 3 s, checked every 0.2 s."""
        bounded = statement_timeout.watched
        monkeypatch.setattr(statement_timeout, "LOOK_EVERY", 0.2)
        monkeypatch.setattr(statement_timeout, "watched", lambda handle, sql, bound: bounded(handle, sql, 3))

    def test_a_storage_that_does_not_answer(self, project, rows, silent, soon):
        before = threading.active_count()
        (result,) = run_dbt(["run", "--select", "rebuilt", "--vars", "id: 2"], expect_pass=False)
        assert result.message.count("Waited 3 s for a statement without a Spark job: ") == 1
        assert "stall_timeout" in result.message
        assert threading.active_count() <= before + 1

    def test_the_table_is_as_it_was(self, project, rows):
        assert rows("select id from {schema}.rebuilt") == [(1,)]
        run_dbt(["run", "--select", "rebuilt", "--vars", "id: 3"])
        assert rows("select id from {schema}.rebuilt") == [(3,)]

    def test_honest_work_is_left_alone(self, project, rows, soon):
        (result,) = run_dbt(["run", "--select", "long"])
        assert result.execution_time > 4, "the query must take longer than the bound"
        assert len(rows("select h from {schema}.long")) == 1


def test_an_error_of_the_statement_stays() -> None:
    class Idle:
        def statement_begins(self) -> None: ...

    with pytest.raises(ZeroDivisionError), statement_timeout.watched(Idle(), "select 1", 60):  # type: ignore[arg-type]
        _ = 1 / 0
    with pytest.raises(WaitedTooLongError):
        raise statement_timeout._wait("select 1", 0).error()
