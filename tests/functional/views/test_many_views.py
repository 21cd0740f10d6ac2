"""Many views made at the same time by several threads, none lost."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

VIEWS = 24


class TestManyViews:
    @pytest.fixture(scope="class")
    def models(self):
        return {f"v{i}.sql": f"select {i} as id" for i in range(VIEWS)}

    def test_none_is_lost(self, project, rows):
        run_dbt(["run", "--threads", "8"])
        kept = rows("select key from {schema}.`_dbt_views$options` where key like 'dbt.view.%'")
        assert {row[0] for row in kept} == {f"dbt.view.v{i}" for i in range(VIEWS)}
