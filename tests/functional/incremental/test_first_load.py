"""A large first load is compacted at once, so that the next batch does not rewrite level 0."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt
from tests.functional.conftest import VERSIONS

from dbt.adapters.paimon.capabilities.version_numbers import reaches
from dbt.adapters.paimon.maintenance import first_load

CONFIGS = {
    "settled": "primary_key='id'",
    "partitioned": "primary_key=['id', 'day'], partition_by='day', bucket=2",
    "dynamic": "primary_key='id', bucket=-1",
    "summed": "primary_key='id', merge_engine='aggregation', fields={'n': {'aggregate_function': 'sum'}}",
    "with_input": "primary_key='id', changelog_producer='input'",
    "left_alone": "primary_key='id', compact_after_build=false",
    "write_only": "primary_key='id', tblproperties={'write-only': 'true'}",
    "without_key": "",
}
# From Paimon 1.4, a full refresh (INSERT OVERWRITE) may leave level 0 empty.
LIFTS = reaches(VERSIONS.paimon, "1.4")
SETTLED = ("settled", "partitioned", "dynamic", "summed", "with_input")
QUERY = "select id, id % 3 as day, id * 2 as n from range(100)"


class TestSettling:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            f"{name}.sql": f"{{{{ config(materialized='incremental', {config}) }}}} {QUERY}"
            for name, config in CONFIGS.items()
        }

    def levels(self, rows, name: str) -> set[int]:
        return {row[0] for row in rows(f"select level from {{schema}}.`{name}$files`")}

    def kinds(self, rows, name: str) -> list[str]:
        return [row[0] for row in rows(f"select commit_kind from {{schema}}.`{name}$snapshots` order by snapshot_id")]

    def test_a_small_load_is_left_alone(self, project, rows):
        run_dbt(["run"])
        for name in CONFIGS:
            assert self.levels(rows, name) == {0}, name
            assert self.kinds(rows, name) == ["APPEND"], name

    def test_a_load_of_a_size(self, project, rows, monkeypatch):
        monkeypatch.setattr(first_load, "LEAST_BYTES", 1)
        run_dbt(["run", "--full-refresh"])
        for name in CONFIGS:
            if name in SETTLED or not LIFTS or name == "without_key":
                assert (0 in self.levels(rows, name)) == (name not in SETTLED), name
            # A newer connector may compact within the load's own commit.
            assert name in SETTLED or self.kinds(rows, name)[-1] != "COMPACT", name
            assert sorted(rows(f"select id, n from {{schema}}.{name}")) == [(n, 2 * n) for n in range(100)]

    def test_a_batch_is_not_settled(self, project, rows, monkeypatch):
        monkeypatch.setattr(first_load, "LEAST_BYTES", 1)
        run_dbt(["run", "--select", "settled"])
        assert self.kinds(rows, "settled")[-1] == "APPEND"
        assert 0 in self.levels(rows, "settled")
