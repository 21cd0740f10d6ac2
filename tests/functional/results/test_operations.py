"""The response of a maintenance operation agrees with the table's snapshots and files."""

from __future__ import annotations

import pytest
from dbt.tests.util import get_connection, run_dbt
from tests.functional.conftest import CONNECTOR

_MODEL = """
{{ config(materialized='incremental', incremental_strategy='append') }}
select id from range({{ var('rows', 10) }})
"""
_RUNS = 6


class TestOperations:
    @pytest.fixture(scope="class")
    def models(self):
        return {"events.sql": _MODEL}

    @pytest.fixture(scope="class")
    def events(self, project):
        for _ in range(_RUNS):
            run_dbt(["run"])
        return project.adapter.Relation.create("paimon", project.test_schema, "events", type="table")

    @pytest.fixture(scope="class")
    def operate(self, project, events):
        """Function: run a maintenance operation and return its response."""

        def run(name: str, **arguments):
            with get_connection(project.adapter):
                statement = project.adapter.maintenance.call(name, events, arguments)
                return project.adapter.maintenance.run_operation(events, name, statement).response

        return run

    @pytest.fixture
    def files(self, rows):
        return lambda: rows("select count(*), sum(file_size_in_bytes) from {schema}.`events$files`")[0]

    @pytest.fixture
    def table_snapshots(self, rows):
        return lambda: [
            number for (number,) in rows("select snapshot_id from {schema}.`events$snapshots` order by snapshot_id")
        ]

    def test_compact(self, operate, files, table_snapshots):
        before = files()
        # Paimon 0.9 compacts only if there are `compaction.max.file-num` small files.
        ends = ("min", "max") if CONNECTOR.major == 0 else ("min",)
        bins = {f"compaction.{end}.file-num": before[0] for end in ends}
        response = operate("compact", options=bins)
        after = files()
        assert (response.code, response.commit_kind) == ("COMPACT", "COMPACT")
        assert (response.files_removed, response.bytes_removed) == before
        assert (response.files_written, response.bytes_written) == after
        assert after[0] < before[0]
        assert response.snapshot_id == table_snapshots()[-1] == _RUNS + 1

    def test_expire_snapshots(self, operate, table_snapshots):
        before = table_snapshots()
        response = operate("expire_snapshots", retain_max=2, retain_min=1)
        assert response.snapshots_removed == len(before) - len(table_snapshots()) == len(before) - 2
        assert operate("expire_snapshots", retain_max=2, retain_min=1).snapshots_removed == 0

    def test_rollback(self, operate, table_snapshots):
        before = table_snapshots()
        response = operate("rollback_to", version=str(before[0]))
        assert response.snapshots_removed == 1
        assert table_snapshots() == before[:1]

    def test_what_rewrites_nothing(self, operate, table_snapshots):
        before = table_snapshots()
        response = operate("create_tag", tag="kept")
        assert (response.snapshot_id, response.snapshots_removed) == (None, 0)
        assert table_snapshots() == before

    def test_clear_table(self, project, events, rows, files, table_snapshots):
        """Runs the operation from dbt's command line."""
        run_dbt(["run-operation", "clear_table", "--args", "{relation: events, confirm: events}"])
        assert rows("select count(*) from {schema}.events") == [(0,)]
        assert files()[0] == 0
