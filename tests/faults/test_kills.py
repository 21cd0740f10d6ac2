"""A run that is killed at any time leaves each table in its old or its new state, and the next run completes it.

A real dbt process over a local warehouse is killed (SIGKILL to the driver and its JVM) at chosen statements and at
random times. Then each table is read, the same step runs again, and each table is read once more.
"""

from __future__ import annotations

from typing import Any

import pytest

from faults import further, lakehouse, views
from faults.house import House, Point, at, check_kill, new_house, point_of

RENAMES = {"two_renames": True}
# The most dangerous points first: CI tries only these.
POINTS: list[Point] = [
    *at("rebuilt_key", "insert into"),
    *at("rebuilt_columns", "add columns")[:1],
    *at("rebuilt_key", "rename to .*__dbt_backup", **RENAMES)[:1],
    *at("maintained", "sys.compact")[:1],
    *at("history", "merge into")[:1],
    *at("rebuilt_key", "drop table")[::-1],
    *at("rebuilt_key", "create table")[:1],
    *at("rebuilt_columns", "insert overwrite"),
    *at("rebuilt_columns", "drop columns"),
    *at("rebuilt_key", "rename to .*rebuilt_key`$", **RENAMES),
    *at("rebuilt", "insert overwrite"),
    *at("appended", "insert into"),
    *at("upserted", "insert into"),
    *at("merged", "merge into"),
    *at("filled", "insert into"),
    *at("overwritten", "insert overwrite"),
    *at("replaced", "merge into"),
    *at("batched", "merge into"),
    *at("planted", "insert overwrite"),
    *at("history", "merge into")[1:],
    *at("maintained", "insert into"),
    *at("maintained", "sys.compact")[1:],
    *at("maintained", "sys.create_tag"),
    *at("maintained", "sys.delete_tag"),
    *at("maintained", "sys.expire_snapshots"),
    *at("maintained", "sys.remove_orphan_files"),
    *at("events", "create or replace view"),
]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, spark_config: dict[str, Any]) -> House:
    return new_house(lakehouse, tmp_path_factory.mktemp("faults"), spark_config)


@pytest.fixture(scope="module")
def further_house(tmp_path_factory: pytest.TempPathFactory, spark_config: dict[str, Any]) -> House:
    return new_house(further, tmp_path_factory.mktemp("further"), spark_config)


class TestKills:
    def test_kill(self, house: House, kill: int, kills: int, seed: int, record_property) -> None:
        check_kill(house, point_of(house, POINTS, kill, kills, seed), record_property)


class TestFurtherKills:
    """Not in CI, where a second project would take too long."""

    def test_kill(
        self, further_house: House, further_kill: int, further_kills: int, seed: int, record_property
    ) -> None:
        point = point_of(further_house, further.POINTS, further_kill, further_kills, seed)
        check_kill(further_house, point, record_property)


@pytest.fixture(scope="module")
def views_house(tmp_path_factory: pytest.TempPathFactory, spark_config: dict[str, Any]) -> House:
    return new_house(views, tmp_path_factory.mktemp("views"), spark_config)


class TestViewKills:
    """Kills during refreshes of materialized views; not in CI, like the further kills."""

    def test_kill(self, views_house: House, view_kill: int, view_kills: int, seed: int, record_property) -> None:
        check_kill(views_house, point_of(views_house, views.POINTS, view_kill, view_kills, seed), record_property)
