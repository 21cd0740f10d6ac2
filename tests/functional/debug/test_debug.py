"""`dbt debug` writes to the warehouse and leaves nothing there."""

from __future__ import annotations

from dbt.tests.util import run_dbt


class TestDebug:
    def test_debug_leaves_no_table(self, project, rows):
        run_dbt(["debug"])
        assert rows("show tables in {schema}") == []
