"""Python models support the incremental strategies of SQL models; their tables have the configured primary keys."""

from __future__ import annotations

import pytest
from dbt.tests.util import run_dbt

BODY = """
def model(dbt, session):
    dbt.config(materialized="incremental", {config})
    first = [(1, "a", 10), (2, "a", 20), (3, "b", 30)]
    second = [(2, "a", 21), (4, "b", 40)]
    return session.createDataFrame(second if dbt.is_incremental else first, "id int, part string, n int")
"""
# strategy -> (config, rows after the second run)
STRATEGIES = {
    "append": ("", [(1, "a", 10), (2, "a", 20), (2, "a", 21), (3, "b", 30), (4, "b", 40)]),
    "upsert": ("primary_key='id'", [(1, "a", 10), (2, "a", 21), (3, "b", 30), (4, "b", 40)]),
    "merge": ("primary_key='id', unique_key='id'", [(1, "a", 10), (2, "a", 21), (3, "b", 30), (4, "b", 40)]),
    "partial_update": (
        "primary_key='id', merge_engine='partial-update'",
        [(1, "a", 10), (2, "a", 21), (3, "b", 30), (4, "b", 40)],
    ),
    "insert_overwrite": ("partition_by='part'", [(2, "a", 21), (4, "b", 40)]),
    "delete+insert": ("unique_key='part'", [(2, "a", 21), (4, "b", 40)]),
}


def name_of(strategy: str) -> str:
    return strategy.replace("+", "_")


class TestPythonStrategies:
    @pytest.fixture(scope="class")
    def models(self):
        return {
            f"{name_of(strategy)}.py": BODY.format(
                config=", ".join(filter(None, [f"incremental_strategy='{strategy}'", config]))
            )
            for strategy, (config, _) in STRATEGIES.items()
        }

    def test_second_run(self, project, rows):
        run_dbt(["run"])
        run_dbt(["run"])
        for strategy, (config, expected) in STRATEGIES.items():
            table = name_of(strategy)
            assert sorted(rows(f"select id, part, n from {{schema}}.{table}")) == expected, strategy
            assert len(rows(f"select * from {{schema}}.`{table}$snapshots`")) == 2, strategy
            (keys,) = rows(f"select primary_keys from {{schema}}.`{table}$schemas`")
            assert keys == ('["id"]' if "primary_key" in config else "[]",), strategy
